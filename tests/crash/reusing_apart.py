"""A dead worker whose pid goes to a stranger, in whatever pid namespace this runs."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import timedelta

from sexton.core.clock import SystemClock
from sexton.core.record import replace
from sexton.processes.model import Process
from sexton.processes.stopping import Stopper
from sexton.settings.settings_values import Settings
from sexton.store.opening import open_ledger
from sexton.wiring import Sexton
from tests.crash.holding import HOLD
from tests.crash.reusing import REUSED, Forked, campaign, fork, registered
from tests.crash.victims import Victim
from tests.kit.aftermath import assert_ended_once, assert_nobody_dead_holds_anything
from tests.kit.hurting import may_choose_pids, reuse_pid
from tests.kit.nursery import Child, Nursery, PidTaken, Report

REUSE_APART = "tests.crash.reusing_apart:reuse_apart"
TRIES = 200
SOON = timedelta(seconds=0.2)


def reuse_apart(report: Report, url: str) -> None:
    """All of it in a namespace of its own: the victim, the stranger and the keeper."""
    assert may_choose_pids()
    with Nursery("tests.crash.holding") as nursery:
        reused = reuse(nursery, url)
        try:
            reuse_pid(nursery, os.getpid())
        except PidTaken:  # by somebody who lives
            report.tell("reused", reused)


def reuse(nursery: Nursery, url: str) -> int:
    """The pid that a stranger now has; the dead worker was found out and the stranger spared."""
    victim, stranger = _killed_and_reused(nursery, url)
    assert stranger.pid == victim.child.pid
    with Sexton(open_ledger(url), Settings()) as house:
        sweep = house.sweep()
        assert {outcome.result for outcome in sweep.outcomes} == {"done"}
        own = victim.sessions["own"]
        [why] = [each.action.reason for each in sweep.outcomes if each.action.seen.id == own]
        assert why.code == "reaped:process_gone"
        assert_nobody_dead_holds_anything(house.ledger, [victim.worker])
        assert_ended_once(house.ledger, house.find(own))
    assert stranger.is_alive
    stranger.kill()
    return stranger.pid


def stop_many(report: Report, number: str, seed: str) -> None:
    """Stop processes whose pids go to strangers; tell of those that were hit."""
    events, failures = campaign(int(number), int(seed))
    if events[REUSED]:
        report.tell(REUSED, events[REUSED])
    for each in failures:
        report.tell(each)


def stop_stranger(report: Report) -> None:
    """Stop one whose pid a stranger of the same tick has, by its number, by time, and by wish."""
    former, stranger = _of_the_same_tick()
    weak = replace(former, identity=replace(former.identity, inode=None))
    try:
        for process, confirmed in ((former, False), (weak, False), (weak, True)):
            Stopper(SystemClock()).stop([process], SOON, confirmed=confirmed)
            report.tell("ended" if stranger.has_ended() else "spared")
    finally:
        stranger.end()


def _of_the_same_tick() -> tuple[Process, Forked]:
    """A process that is gone, and a stranger with its pid and its start time."""
    for _ in range(TRIES):
        child = fork()
        assert child is not None
        former = registered(child)
        child.end()
        stranger = fork(child.pid)
        if stranger is not None and stranger.started == child.started:
            return former, stranger
        if stranger is not None:
            stranger.end()
    return _of_another_number()  # on a busy machine everything takes longer than a tick


def _of_another_number() -> tuple[Process, Forked]:
    """One with the pid and the start time of somebody living, who has another number in pidfs."""
    stranger = fork()
    assert stranger is not None
    mine = registered(stranger)
    assert mine.identity.inode is not None
    return replace(mine, identity=replace(mine.identity, inode=mine.identity.inode + 1)), stranger


def _killed_and_reused(nursery: Nursery, url: str) -> tuple[Victim, Child]:
    for attempt in range(5):  # a pid may go to somebody else first
        tag = f"worker{attempt}"
        victim = Victim(child=nursery.start(HOLD, url, tag, f"shared {tag}", "0.01"))
        victim.introduce()
        victim.child.kill()
        with suppress(PidTaken):
            return victim, reuse_pid(nursery, victim.child.pid)
    raise AssertionError("somebody else got every pid")
