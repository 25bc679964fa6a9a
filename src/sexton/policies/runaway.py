"""Is this a conversation, or has something run away?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sexton.model.record import names
from sexton.policies.spend import RunawayPolicy

WINDOW = 60.0
"""Rates are per minute, and over any minute, not over those of the clock."""


class Beat(NamedTuple):
    """What happened at a moment of running time."""

    at: float
    messages: int = 0
    tokens: int = 0
    tool_calls: int = 0


class Excess(NamedTuple):
    """What there was too much of, how much in the last minute, and the limit."""

    what: str
    found: int
    limit: int

    @property
    def budget(self) -> str:
        """What this limit is called where budgets are named."""
        return f"runaway.{self.what}"


def recent(beats: Sequence[Beat], now: float) -> tuple[Beat, ...]:
    """The beats that still count, at most one for each second."""
    found: dict[int, Beat] = {}
    for beat in beats:
        if now - beat.at < WINDOW:
            held = found.get(int(beat.at))
            found[int(beat.at)] = beat if held is None else joined(held, beat)
    return tuple(found.values())


def excess(beats: Sequence[Beat], policy: RunawayPolicy, now: float) -> Excess | None:
    """What has run away, or None."""
    counted = [beat for beat in beats if now - beat.at < WINDOW]
    for what in names(RunawayPolicy):
        limit, count = getattr(policy, what), sum(getattr(beat, what) for beat in counted)
        if limit is not None and count >= limit:
            return Excess(what, count, limit)
    return None


def joined(one: Beat, other: Beat) -> Beat:
    """Two beats of the same second; the later time stands for both, so neither leaves too early."""
    return Beat(
        max(one.at, other.at),
        one.messages + other.messages,
        one.tokens + other.tokens,
        one.tool_calls + other.tool_calls,
    )
