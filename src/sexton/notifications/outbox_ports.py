"""What is needed to tell people things once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from sexton.notifications.model import Letter, LetterState, Notice


class Channel(Protocol):
    """A way of reaching people."""

    def deliver(self, letter: Letter) -> None:
        """Hand the letter over, or EffectFailed; its key is the same on every attempt."""


class Outbox(Protocol):
    """The notices of a ledger. Each is there once for each target, whoever posts it."""

    def known(self, keys: Sequence[str]) -> frozenset[str]:
        """Which of the keys were posted already, to whatever target."""

    def post(self, notices: Sequence[Notice], targets: Iterable[str], now: datetime) -> None:
        """Put notices in for each target; one that is there already stays as it is."""

    def claim(self, worker: str, target: str, limit: int, now: datetime) -> list[Letter]:
        """Take on letters whose time has come, oldest first; each is one worker's only."""

    def finish(self, taken: Letter, now: datetime) -> bool:
        """Delivered; False if the claim was lost."""

    def put_back(self, taken: Letter, error: str, again: datetime | None, now: datetime) -> bool:
        """Not delivered: tried again from a moment on, or given up for good (None)."""

    def free(self, worker: str, now: datetime) -> int:
        """Make letters pending again that this worker, one taken for dead or one that left had.

        What is to wait for longer than anything does has waited long enough.
        """

    def forget(self, before: datetime) -> int:
        """Drop what was posted before a moment, delivered or not."""

    def page(self, state: LetterState | None, after: int | None, limit: int) -> list[Letter]:
        """Letters, newest first."""

    def held_since(self, sessions: Sequence[int], now: datetime) -> Mapping[int, datetime]:
        """Since when each of the sessions is held back, these being all that are."""
