"""Does a turn of a conversation run in the gateway? What its home shows of that from outside.

Hermes 0.19 writes no turn into a row. Its gateway counts the turns that run, notes when a
conversation was last used, and writes a turn's messages sooner or later.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from sexton.homes.hermes.documents import read_json

STATUS = "gateway_state.json"
APART = 60.0
"""Seconds by which a conversation may be noted as used after its last message was written."""
LONGEST = 86_400.0
"""Seconds without any sign after which no turn is taken to run."""


class Sign(NamedTuple):
    """What is known of the last use of a conversation, in seconds since 1970."""

    said_at: float
    used_at: float
    answered: bool


def turns_of(home: Path, gateway: int | None) -> int | None:
    """How many turns the living gateway says that it runs; None if it does not say."""
    stored = read_json(home / STATUS)
    if gateway is None or not isinstance(stored, dict) or stored.get("pid") != gateway:
        return None
    count = stored.get("active_agents")
    return count if type(count) is int and count >= 0 else None


def turn_in(sign: Sign, gateway: int | None, turns: int | None, now: float) -> str:
    """What shows that a turn of a conversation may run, in words; nothing if none does."""
    if gateway is None or turns == 0 or now - max(sign.said_at, sign.used_at) > LONGEST:
        return ""
    if not sign.answered:
        seen = "its last message has no answer yet"
    elif sign.used_at > sign.said_at + APART:
        seen = "it was used after its last message was written"
    else:
        return ""
    count = "turns" if turns is None else f"{turns} turn{'s' if turns > 1 else ''}"
    return f"the gateway with pid {gateway} is at work on {count}, and {seen}"
