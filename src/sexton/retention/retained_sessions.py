"""Questions about sessions that were kept long enough, and the end of what we wrote down."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from sexton.retention.model import Remains
from sexton.sessions.model import Place
from sexton.store import rows
from sexton.store.database import Database, Transaction
from sexton.store.rows import Row, micros

_BEGINNING = -(2**62)


class LedgerRetained:
    """Questions about sessions that are over and still have their messages in their home.

    A rank is counted up to one more than `among`.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def sources(self, home: str) -> list[str]:
        """The sources they have, in order."""
        return [row[0] for row in self._database.read(lambda tx: tx.all("sources_over", home=home))]

    def old(
        self, home: str, source: str, after: Place | None, limit: int, among: int = 0
    ) -> list[Remains]:
        """Those of a source, the longest unused first; costs what is found."""
        values = {
            "home": home,
            "source": source,
            "active_at": _BEGINNING if after is None else micros(after.at),
            "ref": 0 if after is None else after.ref,
            "limit": limit,
            "among": among,
        }
        return [
            _remains(row)
            for row in self._database.read(lambda tx: tx.all("page_remains", **values))
        ]

    def named(self, home: str, ids: Sequence[str], among: int = 0) -> list[Remains]:
        """The sessions with those ids, whatever became of them."""
        values = {"home": home, "names": json.dumps(list(ids)), "among": among}
        found = self._database.read(lambda tx: tx.all("remains_named", **values))
        return [_remains(row) for row in found]

    def brought_back(self, home: str, ids: Sequence[str], since: datetime) -> frozenset[str]:
        """Which of the sessions, or their files alone, were brought back after a moment."""
        values = {"home": home, "names": json.dumps(list(ids)), "since": micros(since)}
        found = self._database.read(lambda tx: tx.all("brought_back", **values))
        return frozenset(row[0] for row in found)

    def count(self, home: str) -> int:
        """How many there are."""
        ((count,),) = self._database.read(lambda tx: tx.all("count_over", home=home))
        return int(count)

    def tables(self) -> dict[str, int]:
        """How many bytes each table takes with its indexes; goes through all of a file."""
        return dict(self._database.read(lambda tx: tx.all("table_sizes")))

    def forget(self, before: datetime, limit: int) -> int:
        """Drop so many journal entries older than a moment, and older policies; how many went.

        The policies in force stay, however old they are.
        """

        def job(tx: Transaction) -> int:
            gone = [
                *tx.all("forget_journal", before=micros(before), limit=limit),
                *tx.all("forget_policies", before=micros(before)),
            ]
            return len(gone)

        return self._database.write(job)


def _remains(row: Row) -> Remains:
    *session, owes, rank = row
    return Remains(session=rows.session(tuple(session)), owes=bool(owes), rank=rank)
