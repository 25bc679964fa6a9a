"""The home in the ledger itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sexton.model.evidence import Evidence
from sexton.model.message import Message
from sexton.model.plan import ReapSession, Reason, Seen
from sexton.model.process import Process
from sexton.model.session import NATIVE, Session
from sexton.model.worker import Identity
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

    def owners(self, ids: Collection[str]) -> Mapping[str, Evidence]:  # noqa: ARG002  # the ledger knows who holds them
        return {}

    def reap(self, reaps: Sequence[tuple[ReapSession, Entry]], now: datetime) -> list[bool]:
        return self._ledger.reaping.reap(reaps, now)

    def end(self, seen: Seen, reason: Reason, entry: Entry, now: datetime) -> bool:
        return self._ledger.book.end(seen, reason, entry, now)

    def background(self, here: Identity) -> Sequence[Process]:  # noqa: ARG002  # all are registered
        return ()

    def transcript(self, session: Session, since: int, through: int) -> Iterator[Message]:
        after = since
        while after < through:
            page = self._ledger.messages.page(session.ref, after, PAGE_BYTES)
            if not page:
                return
            yield from (message for message in page if message.seq <= through)
            after = page[-1].seq
