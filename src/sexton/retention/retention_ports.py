"""What is needed to find out which sessions were kept long enough."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from sexton.retention.remains import Remains
from sexton.sessions.model import Place


class Retained(Protocol):
    """Questions about sessions that are over and still have their messages in their home.

    A rank is counted up to one more than `among`.
    """

    def sources(self, home: str) -> list[str]:
        """The sources they have, in order."""

    def old(
        self, home: str, source: str, after: Place | None, limit: int, among: int = 0
    ) -> list[Remains]:
        """Those of a source, the longest unused first; costs what is found."""

    def named(self, home: str, ids: Sequence[str], among: int = 0) -> list[Remains]:
        """The sessions with those ids, whatever became of them."""

    def brought_back(self, home: str, ids: Sequence[str], since: datetime) -> frozenset[str]:
        """Which of the sessions, or their files alone, were brought back after a moment."""

    def count(self, home: str) -> int:
        """How many there are."""

    def tables(self) -> dict[str, int]:
        """How many bytes each table takes with its indexes; goes through all of a file."""

    def forget(self, before: datetime, limit: int) -> int:
        """Drop so many journal entries older than a moment, and older policies; how many went.

        The policies in force stay, however old they are.
        """
