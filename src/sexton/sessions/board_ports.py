"""What is needed to look at all sessions of a ledger, and at how it does over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol

from sexton.core.plan import JournalEntry
from sexton.core.record import record
from sexton.core.session import Session, State
from sexton.sessions.model import Place


@record
class Search:
    """Which sessions are looked for; None means any.

    `text` is a part of the title, whatever the case of its Latin letters. `folded` leaves out those
    that were compressed: the newest of a chain stands for all of it.
    """

    home: str | None = None
    source: str | None = None
    state: State | None = None
    text: str | None = None
    active_since: datetime | None = None
    active_before: datetime | None = None
    folded: bool = True


class Order(StrEnum):
    """What comes first: the latest activity, the latest start, or the biggest."""

    ACTIVE = "active"
    STARTED = "started"
    SIZE = "size"


class Spot(NamedTuple):
    """Where a search goes on: behind this value of the order, and this row of equals."""

    value: int
    ref: int


@record
class Found:
    """What a search came across, with holders, and where it goes on; None at the end.

    A search looks at so many sessions and no more: with few or none found there may be others.
    """

    sessions: Sequence[Session]
    rest: Spot | None


class Live(NamedTuple):
    """An open session and who holds it: workers, and since when each is busy."""

    ref: int
    home: str
    id: str
    source: str
    title: str | None
    active_at: datetime
    started_at: datetime
    holders: tuple[tuple[str, datetime | None], ...]


class Spent(NamedTuple):
    """What sessions that were active have cost so far: how many, millionths of a dollar, tokens."""

    sessions: int
    cost_micros: int
    tokens: int


class Figure(NamedTuple):
    """What was counted under a name at one moment."""

    name: str
    at: datetime
    value: int


class Board(Protocol):
    """Questions about many sessions at once; each costs about the same however many there are."""

    def search(self, wanted: Search, order: Order, after: Spot | None, limit: int) -> Found:
        """Sessions of all homes in an order, the first ones first.

        InputInvalid if very many are open and are to be sorted by size.
        """

    def sources(self, limit: int) -> list[str]:
        """Where sessions come from."""

    def live(self, limit: int) -> list[Live]:
        """Open sessions of all homes, latest activity first."""

    def children(self, home: str, id: str, after: Place | None, limit: int) -> list[Session]:
        """The sessions that came of one, in the order they were started."""

    def journal_since(self, after: int, limit: int) -> list[JournalEntry]:
        """Entries behind one, oldest first; of two that are written together either may be late."""

    def newest_entry(self) -> int:
        """The last entry of the journal; 0 if there is none."""


class Gauges(Protocol):
    """The ledger in numbers, now and over time."""

    def tally(self) -> Mapping[tuple[str, State], int]:
        """How many sessions of each home are in each state."""

    def oldest_work(self) -> Mapping[str, datetime]:
        """Since when the oldest work of each finalizer is owed that is not done yet."""

    def spent_since(self, moment: datetime) -> Spent:
        """What sessions that were active since then have cost, in all their time."""

    def store(self, figures: Mapping[str, int], now: datetime) -> None:
        """Keep figures; very old ones are forgotten."""

    def since(self, moment: datetime) -> list[Figure]:
        """The figures from a moment on, oldest first."""
