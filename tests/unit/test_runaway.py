"""Is this a conversation, or has something run away?"""

from __future__ import annotations

import pytest

from sexton.spending.policy import RunawayPolicy
from sexton.spending.pulse import Pulse
from sexton.spending.runaway import Beat, Excess, excess, haste

USUAL = RunawayPolicy(messages=150)
SEED = (602, 107.0)
"""Messages and seconds of the session that burned."""
RATES = (("messages", 150), ("tokens", 1_000_000), ("tool_calls", 120))


class Watched:
    """A pulse, and the moment at which it is felt."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pulse = Pulse(lambda: self.now)

    def at(self, now: float, **happened: int) -> Excess | None:
        self.now = now
        if happened:
            self.pulse.beat(**happened)
        return self.pulse.excess(USUAL)


def test_the_seed_is_noticed_within_thirty_seconds() -> None:
    count, seconds = SEED
    watched, times = Watched(), [number * seconds / count for number in range(count)]
    assert next(each for each in times if watched.at(each, messages=1)) < 30


@pytest.mark.parametrize(("what", "limit"), RATES)
def test_each_rate_has_its_own_limit_in_any_minute(what: str, limit: int) -> None:
    watched = Watched()
    assert watched.at(0.0, **{what: limit - 1}) is None
    assert watched.at(30.0, **{what: 1}) == Excess(what, limit, limit)
    assert watched.at(59.9) == Excess(what, limit, limit)
    assert watched.at(60.0) is None
    assert watched.at(89.9, **{what: limit - 1}) == Excess(what, limit, limit)
    assert watched.at(90.0) is None
    assert watched.at(200.0, **{what: limit - 1}) is None
    never = RunawayPolicy(messages=None, tokens=None, tool_calls=None)
    assert excess(Beat(0.0, **{what: limit}), never) is None
    assert Excess(what, 1, 1).budget == f"runaway.{what}"


def test_many_messages_only_warn_unless_a_limit_is_set() -> None:
    usual, minute = RunawayPolicy(), Beat(0.0, messages=150)
    assert haste(Beat(0.0, messages=149), usual) is None
    assert haste(minute, usual) == Excess("messages", 150, 150)
    assert excess(Beat(0.0, messages=10**9), usual) is None
    assert haste(minute, RunawayPolicy(messages=500)) is None
    assert haste(minute, RunawayPolicy(warn_messages=None)) is None


def test_beats_are_kept_by_the_second_and_forgotten_after_a_minute() -> None:
    watched = Watched()
    for number in range(1000):
        watched.at(number / 10, messages=1, tokens=2, tool_calls=3)
    assert len(watched.pulse._beats) <= 61
    assert watched.pulse._minute[1:] == (600, 1200, 1800)
    watched.at(200.0)
    assert watched.pulse._minute[1:] == (0, 0, 0)


def test_joined_beats_never_leave_before_their_time() -> None:
    watched = Watched()
    watched.at(0.0, messages=100)
    watched.at(0.9, messages=100)
    assert watched.at(60.5) == Excess("messages", 200, 150)
    assert watched.at(60.9) is None
