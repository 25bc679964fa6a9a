"""A small campaign of reused pids; `make crash` runs the big one."""

from __future__ import annotations

import os
import random
from datetime import timedelta

from sexton.model.process import Process
from sexton.model.record import replace
from sexton.system.clock import SystemClock
from sexton.system.stopping import Stopper
from sexton.testing.hurting import may_choose_pids
from tests.crash.reusing import REUSED, Forked, campaign, fork, registered

STOPS = 100
TRIES = 200
SOON = timedelta(seconds=0.2)


def test_no_stranger_is_signalled_however_pids_change_hands() -> None:
    if may_choose_pids():
        _check_many()
    else:  # no pid can be forced on anybody here, so that only a stranger's number is
        _check_one(*_of_another_number())


def _check_many() -> None:
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(1_000_000))
    events, failures = campaign(STOPS, seed)
    assert failures == [], f"SEED={seed}"
    assert events[REUSED] > STOPS / 10
    assert events["ended by TERM"] > STOPS / 10


def test_a_stranger_of_the_same_tick_is_told_from_who_had_its_pid() -> None:
    """And would not be, if pid and start time were taken for proof."""
    _check_one(*(_of_the_same_tick() if may_choose_pids() else _of_another_number()))


def _check_one(former: Process, stranger: Forked) -> None:
    try:
        Stopper(SystemClock()).stop([former], SOON)
        assert not stranger.has_ended()
        weak = replace(former, identity=replace(former.identity, inode=None))
        Stopper(SystemClock()).stop([weak], SOON)
        assert not stranger.has_ended()
        Stopper(SystemClock()).stop([weak], SOON, confirmed=True)
        assert stranger.has_ended()
    finally:
        stranger.end()


def _of_another_number() -> tuple[Process, Forked]:
    """One with the pid and the start time of somebody living, who has another number in pidfs."""
    stranger = fork()
    assert stranger is not None
    mine = registered(stranger)
    assert mine.identity.inode is not None
    return replace(mine, identity=replace(mine.identity, inode=mine.identity.inode + 1)), stranger


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
