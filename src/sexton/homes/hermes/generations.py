"""What do homes of different schemas mean by the same silence? Found out on every release."""

from __future__ import annotations

from datetime import timedelta

from sexton.resets.policy import Mode

RESETS_BY_ITSELF = 17
"""Up to this schema (0.18.0) a home without any mode resets by both clocks; since then by none."""
FORGETS_PROCESSES = 17
"""From this schema on (0.18.0) a process holds resets back for a time; before, for ever."""
RESETS_REMOVED = 30
"""From this schema on nothing is reset by the clock any more."""
GUARD = timedelta(hours=24)


def usual_mode(schema: int) -> Mode:
    """By which clocks a home resets whose configuration does not say."""
    return Mode.BOTH if schema <= RESETS_BY_ITSELF else Mode.NONE


def usual_guard(schema: int) -> timedelta | None:
    """How old a process may be and hold a reset back, if nothing is said; None for any age."""
    return GUARD if schema >= FORGETS_PROCESSES else None


def resets_removed(schema: int) -> bool:
    """Whether a home of that schema asks for resets in vain."""
    return schema >= RESETS_REMOVED
