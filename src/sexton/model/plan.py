"""What should be done, why, and what came of it."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from sexton.model.record import record
from sexton.model.session import Limit


@record(kw_only=False)
class Reason:
    """A decision's code, for programs, and its text, for people."""

    code: str
    text: str


@record
class Seen:
    """The session as it was when the decision was made; apply does nothing if it has moved on."""

    ref: int
    home: str
    id: str
    epoch: int
    active_at: datetime
    message_count: int
    turn_count: int
    pinned: bool


@record
class EndSession:
    """End the session for that reason. Undone by reviving it."""

    seen: Seen
    reason: Reason
    kind: str = "end"
    reversible: bool = True


@record
class ReapSession:
    """End a session whose holders are all dead, as of its last activity. Undone by reviving it.

    `dead` are the holders with the beat they were last seen with: who beats again is not dead.
    """

    seen: Seen
    reason: Reason
    dead: tuple[tuple[str, int], ...] = ()
    kind: str = "reap"
    reversible: bool = True


@record
class WarnSession:
    """Say once that the session comes near a limit."""

    seen: Seen
    reason: Reason
    limit: Limit
    kind: str = "warn"
    reversible: bool = False


Action: TypeAlias = EndSession | ReapSession | WarnSession


@record
class Held:
    """A decision that is held back, and what holds it; `by` is the worker, if one does."""

    seen: Seen
    wanted: Reason
    holding: Reason
    by: str = ""


@record
class Plan:
    """Actions with their reasons, made at one moment for one ledger under one set of policies."""

    id: str
    ledger: str
    policies: str
    made_at: datetime
    actions: tuple[Action, ...] = ()
    held: tuple[Held, ...] = ()


class Result(StrEnum):
    """What came of an action."""

    DONE = "done"
    SKIPPED = "skipped"  # the world had moved on; normal, not an error
    RECORDED = "recorded"  # the home is only observed: this is what would have been done


@record
class Outcome:
    """An action and what came of it; the log, the terminal and the journal render this value."""

    action: Action
    result: Result
    detail: str


@record
class JournalEntry:
    """A line of the journal: what was done, to which session, by whom, why, what came of it."""

    ref: int
    at: datetime
    actor: str
    receipt: str | None
    home: str | None
    session: str | None
    action: str
    result: str
    reason: Reason
