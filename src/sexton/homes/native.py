"""The home in the ledger itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from sexton.core.message import Message
from sexton.core.plan import ReapSession, Reason, Seen
from sexton.core.record import replace
from sexton.core.session import NATIVE, Session
from sexton.homes.home_ports import Due, Ended, Known, Sighting
from sexton.liveness.evidence import Evidence
from sexton.liveness.model import Identity, Lost
from sexton.processes.model import Process
from sexton.store.journal import Entry
from sexton.store.ledger import Ledger

PAGE_BYTES = 1_000_000
TOGETHER = 100


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

    def revive(
        self, ended: Sequence[Ended], entry: Entry, due: Due, now: datetime
    ) -> list[Session]:
        waiting, done = iter(ended), []
        while batch := list(islice(waiting, TOGETHER)):
            lost = [
                Lost(
                    ref=found.ref,
                    schedule=due(replace(found, active_at=now)),
                    entry=replace(entry, home=NATIVE, session=found.id),
                    undoes=each.entry,
                )
                for each in batch
                for found in self._ledger.index.find(NATIVE, each.id)
            ]
            done += self._ledger.reaping.revive(lost, now)
        return done

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
