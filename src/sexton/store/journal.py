"""What the ledger keeps about its users: workers, journal, policies."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Protocol

from sexton.core.plan import JournalEntry, Reason
from sexton.core.record import record
from sexton.core.session import Session
from sexton.liveness.model import Worker

PATIENCE = timedelta(minutes=5)
MISSED = 3
"""A keeper is late once it has missed this many sweeps, but never within `PATIENCE`."""


@record(kw_only=False)
class LastSweep:
    """When a keeper last finished a sweep, and how often it sweeps."""

    at: datetime
    every: timedelta

    def is_late(self, now: datetime) -> bool:
        """Whether the keeper has missed so many sweeps that it is no longer at work."""
        return now - self.at > max(PATIENCE, MISSED * self.every)


class Workers(Protocol):
    """The processes that hold sessions, and the keepers."""

    def register(self, worker: Worker) -> None:
        """Add a worker."""

    def beat_of(self, worker: str) -> int | None:
        """How often the worker has raised its counter; None if the ledger does not know it."""

    def swept(self, worker: str, now: datetime, every: timedelta) -> None:
        """Record a keeper's finished sweep, and when the next one is to be expected."""

    def last_sweep(self) -> LastSweep | None:
        """When any keeper last finished a sweep."""

    def all(self) -> list[Worker]:
        """Every worker that has not left."""

    def busy(self, worker: str) -> dict[int, int]:
        """How many turns of a worker the ledger takes to be running, by the row of the session."""

    def recount(self, worker: str, session: int, seen: int, running: int) -> None:
        """Correct that number, unless it has changed since it was seen."""


@record
class Entry:
    """A journal entry to be written in the transaction of the change it tells of.

    `sessions` are the ids, where it is about several.
    """

    actor: str
    receipt: str | None
    action: str
    result: str
    reason: Reason
    home: str | None = None
    session: str | None = None
    sessions: tuple[str, ...] = ()


class Journal(Protocol):
    """What was done, when, by whom and why; entries are only ever added."""

    def write(self, entries: Iterable[Entry], now: datetime) -> None:
        """Add entries that belong to no change in the ledger."""

    def page(
        self, session: Session | None, receipt: str | None, before: int | None, limit: int
    ) -> list[JournalEntry]:
        """Entries, newest first."""


@record(kw_only=False)
class StoredPolicies:
    """The policies in force: their version, their hash and their text."""

    serial: int
    digest: str
    text: str


class PolicyStore(Protocol):
    """The policies all keepers and agents of a ledger share."""

    def in_force(self) -> StoredPolicies | None:
        """The newest policies, or None before any were published."""

    def publish(self, digest: str, text: str, actor: str, now: datetime) -> StoredPolicies:
        """Put policies in force unless they are already; a change is journalled."""
