"""The home in the ledger itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sexton.model.plan import ReapSession, Reason, Seen
from sexton.model.session import NATIVE
from sexton.ports import Entry, Known, Reaping, SessionBook, Sighting


class NativeHome:
    """Sessions that live in the ledger: nothing to observe, everything to act on."""

    name = NATIVE
    kind = "native"

    def __init__(self, book: SessionBook, reaping: Reaping) -> None:
        self._book = book
        self._reaping = reaping

    def rules(self) -> str | None:
        return None

    def look(self, mark: Mapping[str, Any] | None, known: Known) -> Iterator[Sighting]:  # noqa: ARG002  # the ledger knows already
        return iter(())

    def reap(self, reaps: Sequence[tuple[ReapSession, Entry]], now: datetime) -> list[bool]:
        return self._reaping.reap(reaps, now)

    def end(self, seen: Seen, reason: Reason, entry: Entry, now: datetime) -> bool:
        return self._book.end(seen, reason, entry, now)
