"""The kinds of end a session can come to, and the words each kind of home has for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

NATIVE, HERMES = "native", "hermes"


class EndKind(StrEnum):
    """How a session ended; every rule that depends on it asks for the kind, never for a word."""

    REAP = "reap"  # its owner was dead
    IDLE_RESET = "idle_reset"
    DAILY_RESET = "daily_reset"
    SIZE_RESET = "size_reset"  # too many messages, bytes or turns, or too old
    RESET = "reset"  # its home reset it and does not say by which clock, or that a user asked
    BUDGET = "budget"
    BREAKER = "breaker"
    USER = "user"  # a user or an operator ended it, in whatever words
    CLOSED = "closed"  # it was done, or its process or front end closed it in good order
    COMPRESSION = "compression"  # its conversation goes on in a child
    BRANCH = "branch"  # its conversation goes on in a branch


RESERVED: Mapping[str, EndKind] = {
    "reaped:": EndKind.REAP,
    "budget:": EndKind.BUDGET,
    "breaker:": EndKind.BREAKER,
}
"""How Sexton's own words for a kind begin; they go on with what was found."""
PREFIXES = {**RESERVED, "compute_host_": EndKind.CLOSED}

_OURS: Mapping[str, EndKind] = {
    "idle": EndKind.IDLE_RESET,
    "daily": EndKind.DAILY_RESET,
    "max_messages": EndKind.SIZE_RESET,
    "max_bytes": EndKind.SIZE_RESET,
    "max_turns": EndKind.SIZE_RESET,
    "max_age": EndKind.SIZE_RESET,
    "compression": EndKind.COMPRESSION,
    "closed": EndKind.CLOSED,
}

ENDS: Mapping[str, Mapping[str, EndKind]] = {
    NATIVE: _OURS,
    HERMES: {
        **_OURS,
        "reaped": EndKind.REAP,
        "ws_orphan_reap": EndKind.REAP,
        "startup_orphan_reap": EndKind.REAP,
        "orphaned_compression": EndKind.REAP,
        "session_reset": EndKind.RESET,
        "suspended": EndKind.RESET,
        "resume_pending_expired": EndKind.RESET,
        "idle_timeout": EndKind.IDLE_RESET,
        "new_session": EndKind.USER,
        "resumed_other": EndKind.USER,
        "session_switch": EndKind.USER,
        "superseded_by_resume": EndKind.USER,
        "branched": EndKind.BRANCH,
        "cli_close": EndKind.CLOSED,
        "agent_close": EndKind.CLOSED,
        "cron_complete": EndKind.CLOSED,
        "tui_close": EndKind.CLOSED,
        "tui_shutdown": EndKind.CLOSED,
        "ws_disconnect": EndKind.CLOSED,
        "lru_evict": EndKind.CLOSED,
        "ended": EndKind.CLOSED,
    },
}
"""Every word that a kind of home itself writes; `tests` read Hermes's out of its code."""


def end_kind(reason: str | None, home: str) -> EndKind:
    """The kind of an end by the word for it and the home's name; other words are a user's own."""
    word = reason or "closed"
    known = ENDS[NATIVE if home == NATIVE else HERMES].get(word)
    return known or next(_prefixed(word), EndKind.USER)


def is_reap(reason: str | None, home: str) -> bool:
    """Whether a session that is not open ended only because its owner was dead."""
    return reason is not None and end_kind(reason, home) is EndKind.REAP


def _prefixed(word: str) -> Iterator[EndKind]:
    return (kind for prefix, kind in PREFIXES.items() if word.startswith(prefix))
