"""The journal: what was done, when, by whom and why; entries are only ever added."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sexton.core.plan import JournalEntry, Reason
from sexton.core.record import record
from sexton.core.session import Session
from sexton.store import rows
from sexton.store.database import Database, Transaction

_END_OF_TIME = 2**62


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


class Journal:
    """The entries of a ledger."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def write(self, entries: Iterable[Entry], now: datetime) -> None:
        """Add entries that belong to no change in the ledger."""
        values = [rows.entry(entry, now) for entry in entries]
        if values:
            self._database.write(lambda tx: tx.many("insert_entry", values))

    def page(
        self, session: Session | None, receipt: str | None, before: int | None, limit: int
    ) -> list[JournalEntry]:
        """Entries, newest first."""
        place = {"before": _END_OF_TIME if before is None else before, "limit": limit}

        def job(tx: Transaction) -> list[rows.Row]:
            if receipt is not None:
                return tx.all("page_journal_of_receipt", receipt=receipt, **place)
            if session is not None:
                named = {"home": session.home, "session": session.id}
                return tx.all("page_journal_of_session", **named, **place)
            return tx.all("page_journal", **place)

        return [rows.journal_entry(row) for row in self._database.read(job)]
