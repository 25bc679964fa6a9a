"""A dead worker whose pid goes to a stranger, in whatever pid namespace this runs."""

from __future__ import annotations

from contextlib import suppress

from sexton.bootstrap import Sexton
from sexton.ledger.opening import open_ledger
from sexton.settings.values import Settings
from sexton.testing.aftermath import assert_ended_once, assert_nobody_dead_holds_anything
from sexton.testing.crash import Child, Nursery, PidTaken, Report
from sexton.testing.hurting import may_choose_pids, reuse_pid
from tests.crash.holding import HOLD
from tests.crash.victims import Victim

REUSE_APART = "tests.crash.reusing_apart:reuse_apart"


def reuse_apart(report: Report, url: str) -> None:
    """All of it in a namespace of its own: the victim, the stranger and the keeper."""
    assert may_choose_pids()
    with Nursery("tests.crash.holding") as nursery:
        report.tell("reused", reuse(nursery, url))


def reuse(nursery: Nursery, url: str) -> int:
    """The pid that a stranger now has; the dead worker was found out and the stranger spared."""
    victim, stranger = _killed_and_reused(nursery, url)
    assert stranger.pid == victim.child.pid
    with Sexton(open_ledger(url), Settings()) as house:
        sweep = house.sweep()
        assert {outcome.result for outcome in sweep.outcomes} == {"done"}
        own = victim.sessions["own"]
        [words] = [each.detail for each in sweep.outcomes if each.action.seen.id == own]
        assert "belongs to another process now" in words
        assert_nobody_dead_holds_anything(house.ledger, [victim.worker])
        assert_ended_once(house.ledger, house.find(own))
    assert stranger.is_alive
    stranger.kill()
    return stranger.pid


def _killed_and_reused(nursery: Nursery, url: str) -> tuple[Victim, Child]:
    for attempt in range(5):  # a pid may go to somebody else first
        tag = f"worker{attempt}"
        victim = Victim(child=nursery.start(HOLD, url, tag, f"shared {tag}", "0.01"))
        victim.introduce()
        victim.child.kill()
        with suppress(PidTaken):
            return victim, reuse_pid(nursery, victim.child.pid)
    raise AssertionError("somebody else got every pid")
