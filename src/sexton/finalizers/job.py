"""What the keeper needs to do end-of-session work at least once, with one owner at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import Protocol, runtime_checkable

from sexton.core.message import Message
from sexton.core.record import record
from sexton.core.session import Session
from sexton.finalizers.model import Due, Finalization, FinalizationState
from sexton.store.journal import Entry


class ClaimLost(Exception):
    """Somebody else has taken the work on, or it is owed no more; what it began must stop."""


class EffectFailed(Exception):
    """The work could not be done now; it is tried again.

    The message is for people and logs, so it holds nothing of a transcript; what a program `said`
    may, so that is added for people only. What can not get better by itself is `hopeless` and goes
    to the dead letters at once. In an `outage` other work of the same finalizer would fail as well,
    so all of it rests for a while; if the endpoint says for how long (`after`), that is heeded and
    does not count as a try.
    """

    def __init__(
        self,
        message: str,
        *,
        said: str = "",
        after: timedelta | None = None,
        hopeless: bool = False,
        outage: bool = False,
    ) -> None:
        super().__init__(f"{message}: {said}" if said else message)
        self.for_logs = message
        if not isinstance(after, timedelta | None):
            raise TypeError(f"after is a timedelta, not {type(after).__name__}")
        self.after = after
        self.hopeless = hopeless
        self.outage = outage or after is not None


class EffectPostponed(Exception):
    """Nothing is wrong, but the work has to wait until a moment; it does not count as a try."""

    def __init__(self, message: str, until: datetime) -> None:
        super().__init__(message)
        if not isinstance(until, datetime) or until.tzinfo is None:
            raise TypeError("until is a datetime with a time zone")
        self.until = until


@record
class Job:
    """A finalization as the program that carries it out sees it.

    `messages` are those since the last finalization of the session, in order, read as they are
    needed. `memo` is what an earlier attempt wrote down by `memoise`, which returns only when it
    is durable and raises ClaimLost if the work is not ours any more. `spend` takes that many
    calls from the finalizer's budget for today, or none and says False; where its rate allows no
    further call now, it raises EffectPostponed.
    """

    key: str
    finalizer: str
    session: Session
    since: int
    through: int
    attempt: int
    messages: Callable[[], Iterator[Message]]
    memo: bytes | None
    memoise: Callable[[bytes], None]
    spend: Callable[[int], bool]


class Effect(Protocol):
    """A way of doing end-of-session work."""

    def carry_out(self, job: Job) -> str:
        """Do it, and say in a few words what came of it; or EffectFailed, or EffectPostponed."""


@runtime_checkable
class Stoppable(Protocol):
    """An effect that can be interrupted."""

    def stop(self) -> None:
        """Stop what is running, which then is postponed, and begin nothing any more."""


@record
class Wanted:
    """Which finalizations to look at; None means any."""

    state: FinalizationState | None = None
    finalizer: str | None = None
    home: str | None = None
    session: str | None = None


class Finalizing(Protocol):
    """The finalizations of a ledger. They are owed from the transaction that ends a session."""

    def claim(
        self, worker: str, finalizers: Sequence[str], limit: int, now: datetime
    ) -> list[Finalization]:
        """Take on pending work whose time has come, oldest first; each is one worker's only.

        It counts as a try when its outcome is reported, as a crash if its worker dies.
        """

    def memo(self, taken: Finalization) -> bytes | None:
        """What an earlier attempt wrote down."""

    def memoise(self, taken: Finalization, memo: bytes) -> bool:
        """Write down what must not be asked for twice; False if the claim was lost."""

    def finish(self, taken: Finalization, note: str, now: datetime) -> bool:
        """Done: the memo is dropped, and a session with nothing left to do is finalized."""

    def put_back(
        self,
        taken: Finalization,
        error: str,
        again: datetime | None,
        now: datetime,
        *,
        counted: bool = True,
    ) -> bool:
        """Not done: tried again from a moment on, or given up for good (None)."""

    def free(self, now: datetime) -> int:
        """Make work pending again whose worker has left or was declared dead, which is counted.

        What is to wait for longer than anything does has waited long enough.
        """

    def page(self, wanted: Wanted, after: int | None, limit: int) -> list[Finalization]:
        """Finalizations, newest first."""

    def tally(self) -> dict[tuple[str, FinalizationState], int]:
        """How much work of each finalizer is not done, by how it stands."""

    def decide(
        self, ref: int, state: FinalizationState, now: datetime, entry: Entry | None = None
    ) -> bool:
        """A person's word: dead ones are pending again, pending or dead ones count as done."""

    def spend(self, finalizer: str, day: date, calls: int, most: int) -> bool:
        """Take calls from a day's budget, all or none."""


@record
class Backlog:
    """Sessions that ended before a finalizer was there, and how much was said in them."""

    sessions: int
    messages: int
    bytes: int


class Backfill(Protocol):
    """Work for sessions that ended before there was a finalizer."""

    def estimate(self, finalizer: str, since: datetime) -> Backlog:
        """What would be owed for sessions that ended since a moment."""

    def owe(self, finalizer: str, since: datetime, limit: int, now: datetime) -> int:
        """Let so many of them owe it, those that ended first; how many do from now on."""


class Dues(Protocol):
    """What sessions owe, as the rule in the database decides it."""

    def of(self, sessions: Sequence[int], rules: str | None = None) -> list[Due]:
        """What these sessions owe to every finalizer; of open ones, if they ended now.

        `rules` is the text of a rulebook that is not in force. Changes nothing.
        """
