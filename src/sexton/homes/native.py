"""The home in the ledger itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sexton.model.message import Message
from sexton.model.plan import ReapSession, Reason, Seen
from sexton.model.record import replace
from sexton.model.session import NATIVE, Relation, Session
from sexton.ports import Entry, Known, Ledger, Sighting

PAGE_BYTES = 1_000_000


class NativeHome:
    """Sessions that live in the ledger: nothing to observe, everything to act on."""

    name = NATIVE
    kind = "native"

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def rules(self) -> str | None:
        return None

    def look(self, mark: Mapping[str, Any] | None, known: Known) -> Iterator[Sighting]:  # noqa: ARG002  # the ledger knows already
        return iter(())

    def reap(self, reaps: Sequence[tuple[ReapSession, Entry]], now: datetime) -> list[bool]:
        return self._ledger.reaping.reap(reaps, now)

    def end(self, seen: Seen, reason: Reason, entry: Entry, now: datetime) -> bool:
        return self._ledger.book.end(seen, reason, entry, now)

    def transcript(self, session: Session, since: int, through: int) -> Iterator[Message]:
        """Where no summary could be had, what it would have been about is read in its place."""
        for message in self._stored(session, since, through):
            untold = _untold(session, message)
            if untold is None:
                yield message
                continue
            for parent in self._ledger.index.find(NATIVE, session.parent or ""):
                for original in self.transcript(parent, *untold):
                    yield replace(original, seq=message.seq)

    def _stored(self, session: Session, since: int, through: int) -> Iterator[Message]:
        after = since
        while after < through:
            page = self._ledger.messages.page(session.ref, after, PAGE_BYTES)
            if not page:
                return
            yield from (message for message in page if message.seq <= through)
            after = page[-1].seq


def _untold(session: Session, message: Message) -> tuple[int, int] | None:
    """Which messages of its parent a compressed session has neither kept nor summarised."""
    mark = message.extra.get("summary")
    if session.relation is not Relation.COMPRESSION or not isinstance(mark, Mapping):
        return None
    if mark.get("of") != session.parent or mark.get("fallback") is not True:
        return None
    first, last = mark.get("from"), mark.get("through")
    return (first - 1, last) if isinstance(first, int) and isinstance(last, int) else None
