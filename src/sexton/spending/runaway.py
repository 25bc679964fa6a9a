"""Is this a conversation, or has something run away?"""

from __future__ import annotations

from typing import NamedTuple

from sexton.core.record import replace
from sexton.core.session import NATIVE, Session
from sexton.liveness.policy import UNATTENDED
from sexton.spending.budgets import is_reached
from sexton.spending.policy import RunawayPolicy

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


def pace_of(policy: RunawayPolicy, session: Session) -> RunawayPolicy:
    """How fast is too fast for a session.

    Inside another program nobody streams or imports, so where no person writes either, as many
    messages as are worth a warning are a loop.
    """
    is_own = session.home == NATIVE or session.source not in UNATTENDED
    if is_own or policy.messages is not None:
        return policy
    return replace(policy, messages=policy.warn_messages)


def excess(minute: Beat, policy: RunawayPolicy) -> Excess | None:
    """What has run away by what happened in the last minute, or None."""
    for what in ("messages", "tokens", "tool_calls"):
        limit, count = getattr(policy, what), getattr(minute, what)
        if limit is not None and is_reached(limit, count):
            return Excess(what, count, limit)
    return None


def haste(minute: Beat, policy: RunawayPolicy) -> Excess | None:
    """The messages of the last minute, if they are worth a warning and nothing bounds them."""
    limit = policy.warn_messages
    if policy.messages is not None or limit is None or not is_reached(limit, minute.messages):
        return None
    return Excess("messages", minute.messages, limit)


def joined(one: Beat, other: Beat) -> Beat:
    """Two beats of the same second; the later time stands for both, so neither leaves too early."""
    return Beat(
        max(one.at, other.at),
        one.messages + other.messages,
        one.tokens + other.tokens,
        one.tool_calls + other.tool_calls,
    )


def without(total: Beat, one: Beat) -> Beat:
    """What is left of a total when one of its beats counts no more."""
    return Beat(
        total.at,
        total.messages - one.messages,
        total.tokens - one.tokens,
        total.tool_calls - one.tool_calls,
    )
