"""What is asked of a SQLite connection between two commits?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import apsw

from sexton.ledger.rows import Row
from sexton.ledger.statements import statements


class SqliteTransaction:
    """Statements on one connection; unless read to its end, a result would not commit."""

    __slots__ = ("_text", "connection")

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self._text = statements("sqlite")

    def all(self, name: str, /, **values: Any) -> list[Row]:
        return self.connection.execute(self._text[name], values).fetchall()

    def one(self, name: str, /, **values: Any) -> Row | None:
        rows = self.connection.execute(self._text[name], values).fetchall()
        return rows[0] if rows else None

    def many(self, name: str, rows: Iterable[Mapping[str, Any] | Sequence[Any]], /) -> None:
        # A list: a signal handler that came in a step of ours, within the engine, could not write.
        self.connection.executemany(self._text[name], list(rows)).fetchall()


class Attempt(SqliteTransaction):
    """A transaction on its way to its commit."""

    __slots__ = ("begun", "torn")

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self._text = statements("sqlite")
        self.begun = False
        self.torn = False
