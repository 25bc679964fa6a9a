"""A session: what it is, and the moves it can make in its life."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import IntFlag, StrEnum

from sexton.core.endings import RESERVED
from sexton.core.record import made, record
from sexton.core.usage import Usage
from sexton.errors import InputInvalid, InvalidName
from sexton.liveness.model import Holder

NATIVE = "native"
NAME_LIMIT = 1024
RESERVED_REASONS = tuple(RESERVED)
"""What ends like that is revived, counted and flushed otherwise than what somebody ended."""


class State(StrEnum):
    """Where a session stands in its life."""

    OPEN = "open"
    ENDED = "ended"
    FINALIZED = "finalized"
    ARCHIVED = "archived"
    TRASHED = "trashed"
    PURGED = "purged"


MOVES: Mapping[State, frozenset[State]] = {
    State.OPEN: frozenset({State.ENDED}),
    State.ENDED: frozenset({State.OPEN, State.FINALIZED, State.ARCHIVED, State.TRASHED}),
    State.FINALIZED: frozenset({State.OPEN, State.ENDED, State.ARCHIVED, State.TRASHED}),
    State.ARCHIVED: frozenset({State.ENDED, State.FINALIZED, State.TRASHED}),
    State.TRASHED: frozenset({State.ENDED, State.FINALIZED, State.PURGED}),
    State.PURGED: frozenset({State.OPEN, State.ENDED}),
}
"""The legal moves, which the statements of the ledger are held to by a test.

Back to open is a revival, from finalized to ended that more is owed, back from archive and trash an
undo. Purged is for ever, unless a foreign home shows the session again. Only what owes no work any
more is archived or trashed.
"""


class Relation(StrEnum):
    """How a session came from its parent."""

    COMPRESSION = "compression"
    SUBAGENT = "subagent"
    BRANCH = "branch"
    FORK = "fork"


class Limit(IntFlag):
    """The limits about which a session has been warned already."""

    NONE = 0
    MESSAGES = 1
    BYTES = 2
    TURNS = 4
    AGE = 8


@record
class Session:
    """The facts about one session.

    `ref` is its row in the ledger; `home` and `id` are its name. Counts are of real rows.
    `epoch` is the fence: whoever writes with an older one has lost the session. The `live` counts
    leave out what was compacted away, where a home says so. `spared_at` is when a person last
    undid its end.
    """

    ref: int
    home: str
    id: str
    key: str | None
    source: str
    chat_type: str | None = None
    job: str | None = None
    parent: str | None = None
    relation: Relation | None = None
    state: State = State.OPEN
    epoch: int = 1
    started_at: datetime
    active_at: datetime
    due_at: datetime | None = None
    ended_at: datetime | None = None
    end_reason: str | None = None
    message_count: int = 0
    byte_count: int = 0
    turn_count: int = 0
    usage: Usage = made(Usage)
    title: str | None = None
    preview: str | None = None
    pinned: bool = False
    human_touched: bool = False
    errored: bool = False
    warned: Limit = Limit.NONE
    spared_at: datetime | None = None
    live_messages: int | None = None
    live_bytes: int | None = None
    holders: tuple[Holder, ...] = ()

    @property
    def name(self) -> str:
        """What a person calls it: the id, with its home in front unless that is the native one."""
        return self.id if self.home == NATIVE else f"{self.home}/{self.id}"

    @property
    def is_spared(self) -> bool:
        """Whether a person undid its end, and nobody has used it since."""
        return self.spared_at is not None and self.active_at <= self.spared_at

    @property
    def rests_since(self) -> datetime:
        """From when on it counts as idle: its last use, or the undo of its end."""
        return self.active_at if self.spared_at is None else max(self.active_at, self.spared_at)

    @property
    def is_open(self) -> bool:
        return self.state is State.OPEN


def check_end_reason(value: str) -> str:
    """A reason that an agent or a person may end a session for, or an error that says why not."""
    check_name("end reason", value)
    if value == Relation.COMPRESSION or value.startswith(RESERVED_REASONS):
        raise InputInvalid(
            f"'{value}' is a reason of Sexton's own",
            hint="Use a word of your own, such as closed or abandoned.",
        )
    return value


def check_name(kind: str, value: str) -> str:
    """A name every engine stores exactly, or an error that says what is wrong with it."""
    if not isinstance(value, str) or not value:
        raise InvalidName(f"the {kind} must be text, not {value!r}")
    if "\0" in value:
        raise InvalidName(f"the {kind} contains a NUL character")
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise InvalidName(f"the {kind} contains a lone surrogate") from None
    if size > NAME_LIMIT:
        raise InvalidName(f"the {kind} has {size} bytes; {NAME_LIMIT} are the limit")
    return value
