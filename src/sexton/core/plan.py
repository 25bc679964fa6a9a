"""What should be done, why, and what came of it."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from sexton.core.record import record
from sexton.core.session import Limit


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


@record
class TrashSession:
    """Put a session into the trash, rows and files. Undone for as long as it is there.

    `size` is what it takes in bytes. Those of one `conversation` go together or not at all.
    """

    seen: Seen
    reason: Reason
    source: str
    size: int
    conversation: str | None = None
    kind: str = "trash"
    reversible: bool = True


@record
class ArchiveSession:
    """Put a session into the archive, rows and files. Undone at any time.

    Those of one `tree` share a file; those of one `conversation` go together or not at all.
    """

    seen: Seen
    reason: Reason
    source: str
    size: int
    conversation: str | None = None
    tree: str | None = None
    kind: str = "archive"
    reversible: bool = True


@record
class RemoveFiles:
    """Put files of a session away and let it keep its record. Undone for as long as they are kept.

    Without a `ref` the files are nobody's, and `active_at` is when they were last written to.
    """

    seen: Seen
    reason: Reason
    source: str
    size: int
    archived: bool = False
    kind: str = "remove_files"
    reversible: bool = True


Tending: TypeAlias = EndSession | ReapSession | WarnSession
"""What is done about a session that is open."""

Removing: TypeAlias = TrashSession | ArchiveSession
"""What takes a session out of its home."""

Action: TypeAlias = Tending | Removing | RemoveFiles


@record
class Held:
    """A decision that is held back, and what holds it; `by` is the worker, if one does."""

    seen: Seen
    wanted: Reason
    holding: Reason
    by: str = ""


@record
class Plan:
    """Actions with their reasons, made at one moment for one ledger under one set of policies.

    `homes` are those that were looked at; of them those that are `observed` may be acted on only if
    a person allows it.
    """

    id: str
    ledger: str
    policies: str
    made_at: datetime
    actions: tuple[Action, ...] = ()
    held: tuple[Held, ...] = ()
    observed: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()

    def will_do(self) -> tuple[Action, ...]:
        """The actions on homes that may be acted on."""
        return tuple(each for each in self.actions if each.seen.home not in self.observed)

    def would_do(self) -> tuple[Action, ...]:
        """The actions on homes that are only observed, which a person has to allow."""
        return tuple(each for each in self.actions if each.seen.home in self.observed)


class Result(StrEnum):
    """What came of an action."""

    DONE = "done"
    SKIPPED = "skipped"  # the world had moved on; normal, not an error
    RECORDED = "recorded"  # the home is only observed: this is what would have been done
    OBSERVED = "observed"  # the home is only observed, and nobody allowed to change it


@record
class Outcome:
    """An action and what came of it; the log, the terminal and the journal render this value."""

    action: Action
    result: Result
    detail: str


INTENDED = "intended"
"""The journal's result for what is about to be done where one transaction can not hold both."""


@record
class JournalEntry:
    """A line of the journal: what was done, to which session, by whom, why, what came of it.

    `sessions` are the ids, where it is about several.
    """

    ref: int
    at: datetime
    actor: str
    receipt: str | None
    home: str | None
    session: str | None
    action: str
    result: str
    reason: Reason
    sessions: tuple[str, ...] = ()
