"""What is needed to count what is spent, before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from sexton.core.record import record
from sexton.core.usage import Usage
from sexton.spending.model import Bound, Budget, Meter, Unit, Who
from sexton.store.journal import Entry


class Standing(NamedTuple):
    """How a meter stands; `oldest` is the first slice of a rolling span that holds spending.

    Whoever only looks learns when people were last told that somebody was stopped by it.
    """

    counter: int
    bound: Bound
    spent: int
    reserved: int
    added: int
    oldest: int | None
    stopped_at: datetime | None = None

    @property
    def used(self) -> int:
        """What counts against the limit, what was added to it taken off."""
        return self.spent + self.reserved - self.added


class Hold(NamedTuple):
    """What a grant holds of one slice of a meter."""

    counter: int
    start: int
    unit: str
    amount: int


class Slot(NamedTuple):
    """The name of a grant: a random slot of a worker, and a number that rises with each use.

    A slot may be used again as soon as its grant is settled.
    """

    slot: str
    number: int


@record
class Spend:
    """What somebody wants to spend: some at once, some `held` until it is settled.

    What is not `limited` has happened already and is counted whatever the limits are. With an
    `epoch` the session must still be open under it. The grant is called `slot`, or gets a new name.
    """

    who: Who
    worker: str
    bounds: tuple[Bound, ...]
    held: Mapping[Unit, int] | None = None
    at_once: Mapping[Unit, int] | None = None
    limited: bool = True
    epoch: int | None = None
    slot: Slot | None = None


class Granted(NamedTuple):
    """What is held, and for whom, with all that it takes to settle it after the ledger lost it.

    `places` are the slices of meters that count what was really used; None while nobody knows
    whether anything is held, as the ledger's answer has not arrived.
    """

    name: Slot
    session: int
    worker: str
    made_at: datetime
    places: tuple[tuple[Meter, int], ...] | None = ()


class Freed(NamedTuple):
    """What a worker that is gone held for a session, and does not any more."""

    worker: str
    session: str | None
    held: Mapping[Unit, int]


@record
class Taken:
    """A spend that fitted into every budget; `grant` is None where nothing is held."""

    grant: Granted | None
    standings: tuple[Standing, ...]


@record
class Refused:
    """A spend that changed nothing, as one budget had no room for it."""

    standing: Standing
    budget: Budget


class Mark(NamedTuple):
    """What was told about a meter, once for each limit and since when at the latest."""

    counter: int
    is_stop: bool
    limit: int
    before: datetime


class Spending(Protocol):
    """The meters of a ledger: exact for any number of threads, processes and hosts."""

    def take(self, wanted: Spend, now: datetime) -> Taken | Refused | None:
        """Count a spend in all its meters or in none; None if the session has ended.

        What is to be held is refused also where messages or time have reached a limit. Granted
        together never exceed a limit. A crash of the database server or of the machine may lose
        a grant; `settle` counts its use all the same.
        """

    def settle(
        self, grant: Granted | None, session: int, used: Mapping[Unit, int], usage: Usage
    ) -> bool:
        """Count what was really used instead of what is held; False if it was counted before.

        The session is the one to whose usage it is added, where its conversation went on. The use
        of a grant that was freed meanwhile, or that a crash of the database took, is counted too.
        Repeating it with the same grant changes nothing; use without a grant is counted each time.
        """

    def free(self, now: datetime) -> list[Freed]:
        """Give back what is held by workers that left or are dead; what that was."""

    def standing(self, who: Who, bounds: Sequence[Bound], now: datetime) -> list[Standing]:
        """How the meters stand, with a person's own limits in place of the given ones."""

    def look(
        self, who: Who, epoch: int | None, bounds: Sequence[Bound], now: datetime
    ) -> list[Standing] | None:
        """The same for whoever spends; None if the session has ended or the fence fell.

        Without an `epoch` nobody asks for either.
        """

    def mark(self, mark: Mark, entry: Entry, now: datetime) -> bool:
        """Note in the journal what is told about a meter, once."""

    def root(self, session: int) -> int:
        """The row of the session from which its tree of subagents and compressions grew."""

    def cap(self, meter: Meter, budget: Budget | None, entry: Entry, now: datetime) -> None:
        """Give one meter a limit of its own, or take it away; what was allowed beyond is over."""

    def add(self, bound: Bound, amount: int, entry: Entry, now: datetime) -> None:
        """Allow so much more in one meter, for as long as its slice counts."""

    def snapshot(self, session: int) -> str | None:
        """What was last stored about the tools of a session, or of what was compressed into it."""
