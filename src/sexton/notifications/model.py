"""Something people are told of once, and how far the telling has come."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Protocol

from sexton.core.record import record


class Event(StrEnum):
    """What people can be told of."""

    RESET = "reset"
    LIMIT = "limit"
    DEAD_LETTER = "dead_letter"
    HELD = "held"
    PROCESS = "process"
    BUDGET = "budget"
    DISK = "disk"


@record
class Notice:
    """What is to be told; whoever tells it, and however often, it has the same key.

    One that is `folded` was told together with others and is only remembered.
    """

    key: str
    event: Event
    title: str
    text: str
    home: str | None = None
    session: str | None = None
    folded: bool = False


class LetterState(StrEnum):
    """How far a letter has come; one that `failed` was given up."""

    PENDING = "pending"
    SENDING = "sending"
    DELIVERED = "delivered"
    FAILED = "failed"
    FOLDED = "folded"


@record
class Letter:
    """A notice on its way to one target.

    `claim` is the fence: it rises each time somebody takes the letter on, and whoever reports with
    an older one has lost it.
    """

    ref: int
    target: str
    notice: Notice
    state: LetterState
    attempts: int
    claim: int
    worker: str | None
    posted_at: datetime
    not_before: datetime
    finished_at: datetime | None
    last_error: str | None


class Channel(Protocol):
    """A way of reaching people."""

    def deliver(self, letter: Letter) -> None:
        """Hand the letter over, or EffectFailed; its key is the same on every attempt."""
