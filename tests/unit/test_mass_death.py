"""When are deaths without proof not believed?"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from sexton.liveness.mass_death import Doubt, doubt
from sexton.liveness.missed_heartbeats import Look
from sexton.liveness.policy import LivenessPolicy

POLICY = LivenessPolicy()
HOLD = 3 * POLICY.ttl.total_seconds()
TEN = [f"w{number}" for number in range(10)]


def after(before: Doubt, dead: Iterable[str], at: float, drift: float = 0.0) -> Doubt:
    """The doubt at a moment of running time, of ten workers with a session each."""
    return doubt(before, frozenset(dead), 10, Look(at, at, drift), POLICY)


def test_a_few_deaths_are_believed_at_once() -> None:
    assert after(Doubt(), TEN[:2], 0).doubted == frozenset()


def test_more_than_a_fifth_at_once_is_doubted_and_the_reason_says_so() -> None:
    found = after(Doubt(), TEN[:3], 0)
    assert found.doubted == frozenset(TEN[:3])
    assert found.reason.code == "mass_death"
    assert "3 of 10" in found.reason.text


@pytest.mark.parametrize(("lost", "doubted"), [(0, False), (200, False), (201, True)])
def test_the_share_is_one_of_sessions_however_many_workers_fell_silent(
    lost: int, doubted: bool
) -> None:
    for dead in (TEN[:1], TEN):
        found = doubt(Doubt(), frozenset(dead), 1000, Look(0, 0), POLICY, lost)
        assert bool(found.doubted) is doubted
        assert ("201 of 1000" in found.reason.text) is doubted


def test_what_is_unchanged_for_three_ttls_is_believed_and_not_before() -> None:
    found = after(Doubt(), TEN[:3], 100)
    found = after(found, TEN[:3], 100 + HOLD - 1)
    assert found.doubted == frozenset(TEN[:3])
    assert after(found, TEN[:3], 100 + HOLD).doubted == frozenset()


def test_once_one_of_them_returns_the_others_are_doubted_anew() -> None:
    found = after(Doubt(), TEN[:4], 0)
    found = after(found, TEN[:3], HOLD - 1)
    assert after(found, TEN[:3], HOLD).doubted == frozenset(TEN[:3])
    assert after(found, TEN[:3], 2 * HOLD - 1).doubted == frozenset()


def test_whoever_falls_silent_later_is_held_for_as_long_as_the_first() -> None:
    found = after(Doubt(), TEN[:3], 0)
    found = after(found, TEN[:6], HOLD - 1)
    found = after(found, TEN[:6], HOLD)
    assert found.doubted == frozenset(TEN[3:6])
    assert after(found, TEN[3:6], 2 * HOLD - 1).doubted == frozenset()


def test_while_some_are_doubted_a_single_further_death_is_too() -> None:
    found = after(Doubt(), TEN[:3], 0)
    assert after(found, TEN[:4], 1).doubted == frozenset(TEN[:4])


def test_nobody_dead_means_no_doubt() -> None:
    assert after(after(Doubt(), TEN[:3], 0), [], 60).doubted == frozenset()


@pytest.mark.parametrize("jump", [-172_800.0, 61.0, 172_800.0])
def test_a_single_death_beside_a_jump_of_the_wall_clock_is_doubted(jump: float) -> None:
    calm = after(Doubt(), [], 0)
    found = after(calm, TEN[:1], 60, drift=jump)
    assert (found.doubted, found.reason.code) == (frozenset(TEN[:1]), "clock_jumped")
    assert after(found, TEN[:1], 61, drift=jump).doubted == frozenset(TEN[:1])
    assert after(found, TEN[:1], 60 + HOLD, drift=jump).doubted == frozenset()


def test_a_clock_that_is_slewed_a_little_is_no_jump() -> None:
    calm = after(Doubt(), [], 0)
    assert after(calm, TEN[:1], 60, drift=59.0).doubted == frozenset()
