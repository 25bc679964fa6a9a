"""What is needed from the places where agents keep sessions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, Protocol, TypeAlias

from sexton.core.message import Message
from sexton.core.plan import ReapSession, Reason, Seen
from sexton.core.record import record
from sexton.core.schedule import Schedule
from sexton.core.session import Session, State
from sexton.liveness.evidence import Evidence
from sexton.liveness.model import Identity
from sexton.processes.model import Process
from sexton.store.journal import Entry

AGES = (timedelta(hours=1), timedelta(days=1), timedelta(days=7), timedelta(days=30))
"""The open sessions of a home are counted by which of these ages they have reached."""


@record
class HomeRecord:
    """A home the ledger knows, and how far it has been observed."""

    ref: int
    name: str
    kind: str
    path: str | None
    host: str | None
    act: bool
    mark: Mapping[str, Any] | None
    rules: str | None
    observed_at: datetime | None


@record
class Sighting:
    """A part of what a look at a foreign home showed.

    `seen` sessions carry ref 0; `gone` are ids that vanished. The last part of a look has the
    `mark` from which the next one goes on; a look that broke off leaves the old mark in force.
    """

    seen: tuple[Session, ...] = ()
    gone: tuple[str, ...] = ()
    mark: Mapping[str, Any] | None = None


@record
class Cohort:
    """How many sessions share a source, state, end reason and age, and how big they are.

    `age` is how many of AGES they have reached, and None for sessions that have ended.
    """

    source: str
    state: State
    end_reason: str | None
    age: int | None
    sessions: int
    messages: int
    bytes: int
    oldest: datetime
    newest: datetime


@record
class Started:
    """The sessions that were started on a day: how many are open still, how many were reaped."""

    day: date
    sessions: int = 0
    open: int = 0
    reaped: int = 0

    @property
    def share(self) -> float | None:
        """The part that did not end by itself: open still, or only because it was reaped."""
        return (self.open + self.reaped) / self.sessions if self.sessions else None


@record
class Ended:
    """A session that was ended from here: when, by which entry of the journal, and why.

    One that was `reaped` ended as of its last activity, before the entry was written.
    """

    id: str
    at: datetime
    entry: int
    why: str
    reaped: bool


Due: TypeAlias = Callable[[Session], Schedule]


class Census(Protocol):
    """The sessions of a home in numbers; no answer is longer for more sessions."""

    def cohorts(self, home: HomeRecord, now: datetime) -> list[Cohort]:
        """All sessions by source, state, end reason and age, the most numerous first."""

    def started(self, home: HomeRecord, since: datetime) -> list[Started]:
        """The sessions started since, by day in UTC; days on which none was are left out."""

    def biggest(self, home: HomeRecord, limit: int) -> list[Session]:
        """The sessions with most content, without their holders."""

    def held(self, home: HomeRecord) -> Mapping[tuple[str, ...], int]:
        """How many open sessions the same workers hold; those of nobody under the empty tuple."""

    def silent(self, home: HomeRecord, source: str, since: datetime) -> int:
        """How many open sessions of a source nobody holds and nobody has used since."""


class Homes(Protocol):
    """The homes of a ledger and the facts observed in them."""

    @property
    def census(self) -> Census: ...

    def attach(self, name: str, kind: str, path: str, host: str, act: bool) -> HomeRecord:
        """Know a home; the same path on the same host stays the same home."""

    def all(self) -> list[HomeRecord]:
        """Every home, the native one first."""

    def store(self, home: HomeRecord, sighting: Sighting, rules: str | None, now: datetime) -> None:
        """Write observed facts together with the mark, if there is one, and the home's rules.

        HomeRewound, with nothing written, if the ledger has another home under that number.
        """

    def ids(self, home: HomeRecord, *, open_only: bool) -> list[str]:
        """The ids the ledger knows of a home."""

    def grown(self, session: int, messages: int) -> None:
        """A session of a foreign home has at least so many messages by now."""


class Observable(Protocol):
    """What can be seen of a home."""

    @property
    def name(self) -> str: ...

    def rules(self) -> str | None:
        """The home's own resets as rulebook text; None where it has none."""

    def look(self, mark: Mapping[str, Any] | None, known: Known) -> Iterator[Sighting]:
        """What changed since the mark, read-only; nothing at all if nothing did."""


class Home(Observable, Protocol):
    """A place where an agent keeps sessions."""

    @property
    def kind(self) -> str: ...

    def owners(self, ids: Collection[str]) -> Mapping[str, Evidence]:
        """What the home itself proves about who has its open sessions; nothing of one it does not.

        What is suspect may be ended at a person's word only.
        """

    def reap(self, reaps: Sequence[tuple[ReapSession, Entry]], now: datetime) -> list[bool]:
        """End sessions whose holders are dead, each if it still is as seen; or HomeObserved."""

    def end(self, seen: Seen, reason: Reason, entry: Entry, now: datetime) -> bool:
        """End a session if it still is as seen; HomeObserved if this home is not to be changed."""

    def revive(
        self, ended: Sequence[Ended], entry: Entry, due: Due, now: datetime
    ) -> list[Session]:
        """Open sessions again, unless they went on or ended anew since; those that are, as told.

        `due` says when the policies next have something to say about one.
        """

    def background(self, here: Identity) -> Sequence[Process]:
        """What the home says of its background processes on this machine: hints, nothing proved."""

    def transcript(self, session: Session, since: int, through: int) -> Iterator[Message]:
        """The messages after a number, up to another, in order, read as they are needed."""


class Known(Protocol):
    """What the ledger already knows of a home, asked only when a look needs it."""

    def open_ids(self) -> frozenset[str]: ...

    def all_ids(self) -> frozenset[str]: ...
