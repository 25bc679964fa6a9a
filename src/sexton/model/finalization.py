"""A piece of end-of-session work that is owed, running, done or given up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class FinalizationState(StrEnum):
    """Where a finalization stands; `dead` is visible and can be retried by hand."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    DEAD = "dead"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finalization:
    """One finalizer's work for the messages of a session up to `through`."""

    home: str
    session: str
    finalizer: str
    through: int
    state: FinalizationState
    attempts: int = 0
    last_error: str | None = None
    not_before: datetime | None = None

    @property
    def key(self) -> str:
        """The idempotency key: the same work has the same key on every attempt."""
        return f"{self.home}/{self.session}/{self.through}/{self.finalizer}"
