"""End-of-session jobs: pending, running, done or dead, and which sessions owe them."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from sexton.core.record import record
from sexton.core.session import State


class FinalizationState(StrEnum):
    """Where a finalization stands; `dead` is visible and can be retried by hand."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    DEAD = "dead"


@record
class Finalization:
    """One finalizer's work for the messages of a session after `since`, up to `through`.

    `claim` is the fence: it rises each time somebody takes the work on, and whoever reports with
    an older one has lost it. `attempts` are tries that came to an end, `crashes` workers that did
    not see it.
    """

    ref: int
    home: str
    session: str
    session_ref: int
    finalizer: str
    since: int
    through: int
    state: FinalizationState
    attempts: int
    claim: int
    worker: str | None
    owed_at: datetime
    not_before: datetime
    finished_at: datetime | None
    last_error: str | None
    note: str | None = None
    crashes: int = 0

    @property
    def key(self) -> str:
        """The idempotency key: the same work has the same key on every attempt."""
        return f"{self.home}/{self.session}/{self.through}/{self.finalizer}"


class DueVerdict(StrEnum):
    """Whether a session owes a finalizer a job, or the first reason why it does not."""

    OWES = "owes"
    PUT_AWAY = "put_away"
    COMPRESSION = "compression"
    OTHER_SOURCE = "other_source"
    TOO_SHORT = "too_short"
    NOTHING_NEW = "nothing_new"


@record
class Due:
    """What the ledger says a session owes a finalizer; of an open one, if it ended now.

    A job would cover the messages after `since`, up to `through`. `least` is the number of
    messages that a session of this source needs; None if the finalizer is not for the source.
    """

    session: int
    finalizer: str
    verdict: DueVerdict
    since: int
    through: int
    least: int | None
    state: State
    source: str
    message_count: int
    byte_count: int

    @property
    def owes(self) -> bool:
        """Whether there is something to do that no job covers."""
        return self.verdict is DueVerdict.OWES


@record
class Wanted:
    """Which finalizations to look at; None means any."""

    state: FinalizationState | None = None
    finalizer: str | None = None
    home: str | None = None
    session: str | None = None


@record
class Backlog:
    """Sessions that ended before a finalizer was there, and how much was said in them."""

    sessions: int
    messages: int
    bytes: int
