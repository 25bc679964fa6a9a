"""The home in the ledger itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from sexton.model.plan import Reason, Seen
from sexton.model.session import NATIVE
from sexton.ports import Entry, Known, SessionBook, Sighting


class NativeHome:
    """Sessions that live in the ledger: nothing to observe, everything to act on."""

    name = NATIVE
    kind = "native"

    def __init__(self, book: SessionBook) -> None:
        self._book = book

    def rules(self) -> str | None:
        return None

    def look(self, mark: Mapping[str, Any] | None, known: Known) -> Iterator[Sighting]:  # noqa: ARG002  # the ledger knows already
        return iter(())

    def end(self, seen: Seen, reason: Reason, entry: Entry, now: datetime) -> bool:
        return self._book.end(seen, reason, entry, now)
