"""A connection that counts every row that changes, and how many of them Sexton meant to change."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import apsw

from sexton.homes.hermes.bounds import confine

SHADOWS = frozenset(
    f"messages_fts{index}_{part}"
    for index in ("", "_trigram")
    for part in ("data", "idx", "content", "docsize", "config")
)
"""Where SQLite keeps the full-text indexes: their rows follow from those of `messages`."""


class Writer(apsw.Connection):
    """A connection for changes to a foreign database.

    Every statement that changes rows goes through `change`. Rows that change in any other way, by a
    trigger or a foreign key, make `strays` differ from zero.
    """

    def __init__(self, database: Path) -> None:
        super().__init__(
            f"file:{quote(os.fsencode(database))}?mode=rw",
            flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI,
        )
        confine(self, database)
        self.strays = 0
        self.set_update_hook(self._changed)

    def change(self, sql: str, values: Mapping[str, Any] | Sequence[Any]) -> int:
        """Run one statement; how many rows it changed itself."""
        self.execute(sql, values)
        count = self.changes()
        self.strays -= count
        return count

    def _changed(self, _kind: int, _schema: str, table: str, _rowid: int) -> None:
        if table not in SHADOWS:
            self.strays += 1
