"""Is this a conversation, or has something run away?"""

from __future__ import annotations

from sexton.policies.runaway import Beat, Excess, excess, recent
from sexton.policies.spend import RunawayPolicy

USUAL = RunawayPolicy()
SEED = (602, 107.0)
"""Messages and seconds of the session that burned."""


def test_the_seed_is_noticed_within_thirty_seconds() -> None:
    count, seconds = SEED
    beats = [Beat(number * seconds / count, messages=1) for number in range(count)]
    noticed = next(
        beat.at for place, beat in enumerate(beats) if excess(beats[: place + 1], USUAL, beat.at)
    )
    assert noticed < 30


def test_each_rate_has_its_own_limit() -> None:
    for what, limit in (("messages", 150), ("tokens", 1_000_000), ("tool_calls", 120)):
        full, less = Beat(0.0, **{what: limit}), Beat(0.0, **{what: limit - 1})
        assert excess([full], USUAL, 59.9) == Excess(what, limit, limit)
        assert excess([full], USUAL, 60.0) is None
        assert excess([less], USUAL, 0.0) is None
        assert excess([full], RunawayPolicy(messages=None, tokens=None, tool_calls=None), 0) is None
        assert Excess(what, 1, 1).budget == f"runaway.{what}"


def test_beats_are_kept_by_the_second_and_forgotten_after_a_minute() -> None:
    beats = [Beat(number / 10, messages=1, tokens=2, tool_calls=3) for number in range(1000)]
    kept = recent(beats, 99.95)
    assert len(kept) <= 61
    assert sum(beat.messages for beat in kept) == 600
    assert kept[-1] == Beat(99.9, 10, 20, 30)


def test_joined_beats_never_leave_before_their_time() -> None:
    kept = recent([Beat(0.0, messages=100), Beat(0.9, messages=100)], 1.0)
    assert excess(kept, USUAL, 60.5) == Excess("messages", 200, 150)
