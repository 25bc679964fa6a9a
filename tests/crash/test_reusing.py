"""A small campaign of reused pids, in a namespace of its own; `make crash` runs the big one.

Who chooses a pid sets back the counter of the whole namespace: outside of one, the next processes
of everybody would get the numbers of those that have just ended.
"""

from __future__ import annotations

import pytest

from tests.crash.reusing import REUSED
from tests.kit.apart import may_live_apart
from tests.kit.nursery import Nursery
from tests.layers import unavailable

STOPS = 100
SEED = 1


@pytest.fixture
def nursery_apart(nursery: Nursery) -> Nursery:
    if not may_live_apart():
        unavailable("no pid namespace can be had on this machine")
    return nursery


def told(nursery: Nursery, program: str, *arguments: object) -> list[str]:
    """What a program tells that runs in a namespace, well to its end."""
    target = f"tests.crash.reusing_apart:{program}"
    child = nursery.start("tests.kit.apart:apart", target, *map(str, arguments))
    assert child.wait() == 0, child.lines()
    return child.lines()


def test_no_stranger_is_signalled_however_pids_change_hands(nursery_apart: Nursery) -> None:
    reused, *failures = told(nursery_apart, "stop_many", STOPS, SEED)
    assert failures == []
    assert reused.startswith(REUSED)


def test_a_stranger_of_the_same_tick_is_told_from_who_had_its_pid(nursery_apart: Nursery) -> None:
    """And would not be, if pid and start time were taken for proof."""
    assert told(nursery_apart, "stop_stranger") == ["spared", "spared", "ended"]
