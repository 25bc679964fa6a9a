"""What is needed to move sessions, to fill them and to find them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from sexton.core.message import Draft, Message
from sexton.core.plan import Reason, Seen
from sexton.core.record import record
from sexton.core.schedule import Schedule
from sexton.core.session import Limit, Relation, Session, State
from sexton.store.journal import Entry

if TYPE_CHECKING:
    from sexton.spending.spending_ports import Spend


class WorkerUnknown(Exception):
    """The ledger has no such worker, so it can hold nothing; nothing was changed."""


@record
class Birth:
    """What a new session starts with, and who holds it."""

    id: str
    key: str | None
    source: str
    chat_type: str | None = None
    job: str | None = None
    parent: str | None = None
    relation: Relation | None = None
    title: str | None = None
    worker: str | None = None
    schedule: Schedule


@record(kw_only=False)
class Appended:
    """What an append did: the last sequence number, the warnings given, the policies in force."""

    last_seq: int
    warned: Limit = Limit.NONE
    serial: int = 0


@record
class Filter:
    """Which sessions to list; None means any.

    `folded` leaves out those that were compressed: the newest of a chain stands for all of it.
    """

    home: str | None = None
    source: str | None = None
    state: State | None = None
    key: str | None = None
    folded: bool = False


@record(kw_only=False)
class Place:
    """Where a page begins: after the session with that time and row."""

    at: datetime
    ref: int


@record
class Batch:
    """Messages to be stored together, and when to look at their session again.

    `spend` is counted with them where a budget counts messages. `seen` is the highest number
    under which the writer knows a message of the session to be stored.
    """

    session: Session
    drafts: Sequence[Draft]
    schedule: Schedule
    preview: str | None = None
    from_human: bool = False
    spend: Spend | None = None
    seen: int = 0


class SessionBook(Protocol):
    """The moves of native sessions."""

    def current(self, key: str) -> Session | None:
        """The open session of a key, with its holders."""

    def begin(self, birth: Birth, now: datetime) -> Session | None:
        """Start a session; None if its key has an open one already.

        This, `join`, `replace` and `start_turn` raise WorkerUnknown for a worker that the ledger
        does not know.
        """

    def join(
        self, session: Session, worker: str, dead: Sequence[str], now: datetime
    ) -> Session | None:
        """Become a holder in place of dead ones; adopting what nobody holds raises the epoch."""

    def leave(
        self, worker: str, dies_with_owner: Sequence[str], now: datetime, actor: str = ""
    ) -> list[Session]:
        """Give up everything the worker holds; the sessions that ended with it."""

    def end(self, seen: Seen, reason: Reason, entry: Entry, now: datetime) -> bool:
        """End an open session, if it still is as seen; the first reason wins."""

    def end_now(
        self, session: Session, reason: str, now: datetime, entry: Entry | None = None
    ) -> bool:
        """End an open session whatever has been written to it since, if the fence stands."""

    def replace(
        self, old: Session, reason: Reason, birth: Birth, entry: Entry, now: datetime
    ) -> Session | None:
        """End a session that still is as seen and start the next one of its key, together."""

    def start_turn(
        self, session: Session, worker: str, schedule: Schedule, now: datetime, seen: int = 0
    ) -> Appended | None:
        """Count a turn and mark the holder busy; None also if the message `seen` is not there."""

    def finish_turn(
        self, session: Session, worker: str, failed: bool, guard: str | None = None
    ) -> bool:
        """Clear the mark that `start_turn` made; False if it is not here (any more).

        `guard` is what is remembered of how the tools did; that and the failure only while the
        fence stands.
        """

    def mark(
        self,
        ref: int,
        *,
        pinned: bool | None = None,
        title: str | None = None,
        noted: tuple[Entry, datetime] | None = None,
        epoch: int | None = None,
    ) -> bool:
        """Change what a person may change about a session, and note it in the journal.

        Where the conversation was compressed, in its newest session; a pin is for all of it.
        With an epoch only while that fence stands: an agent may have lost the session.
        """


class Messages(Protocol):
    """The messages of native sessions."""

    def append(self, batch: Batch, now: datetime) -> Appended | None:
        """Store messages durably, all or none; None if the session ended or the fence fell.

        None also if the session has fewer messages than its writer has seen there.
        """

    def page(self, ref: int, after: int, byte_limit: int, seen: int = 0) -> list[Message]:
        """The next messages in order, at least one if there is one.

        SessionRewound if there is no such session, as none is ever deleted, or if it has fewer
        messages than were seen there.
        """

    def lacking(self, seen: Mapping[int, int]) -> list[int]:
        """The sessions that are not there, or have fewer messages than were seen there."""


class SessionIndex(Protocol):
    """Questions about the sessions of all homes."""

    def find(self, home: str | None, id: str) -> list[Session]:
        """The sessions with that id, with holders; several only where homes share an id."""

    def before(self, session: Session) -> Session | None:
        """The native session that the key of this one had before it, wherever it is kept now."""

    def begins_with(self, prefix: str, limit: int) -> list[Session]:
        """The sessions whose id begins like that, with holders."""

    def page(self, wanted: Filter, before: Place | None, limit: int) -> list[Session]:
        """Sessions by last activity, newest first, with holders.

        A page of open ones costs what is open, however much has ended.
        """

    def open(self, home: str, after: Session | None, limit: int) -> list[Session]:
        """Open sessions of a home by id, after one of them, with holders; to go through all."""

    def due(self, now: datetime, after: Place | None, limit: int) -> list[Session]:
        """Open sessions whose due time has come, oldest due first, with holders."""

    def stale(self, serial: int, limit: int) -> list[Session]:
        """Open native sessions whose due time was computed under older policies."""

    def reschedule(self, plans: Sequence[tuple[Session, Schedule]]) -> int:
        """Store new due times where nothing changed meanwhile; how many were stored."""

    def warn(self, seen: Seen, limit: Limit, entry: Entry, now: datetime) -> bool:
        """Record that the session was warned about a limit, once."""
