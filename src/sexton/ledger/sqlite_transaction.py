"""What is asked of a SQLite connection between two commits?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import apsw

from sexton.ledger.at_once import at_once, portions, whole
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

    def many(self, name: str, rows: Iterable[Mapping[str, Any]], /) -> None:
        self.connection.executemany(self._text[name], rows).fetchall()

    def together(self, name: str, rows: Sequence[Mapping[str, Any]], /) -> list[Row]:
        """What the same statement returns for each row of values; it changes different rows."""
        found: list[Row] = []
        for several in portions(rows):
            text, pick = at_once(self._text[name], len(several))
            values = [value for row in several for value in pick(row)]
            found += self.connection.execute(text, values).fetchall()
        return found

    def insert(self, name: str, rows: Sequence[Sequence[Any]], /) -> None:
        """Many rows by few statements; each has its values in the order of the statement."""
        for several in portions(rows):
            text, _ = at_once(self._text[name], len(several))
            self.connection.execute(text, list(chain.from_iterable(several))).fetchall()

    def alone(
        self, guard: str, values: Mapping[str, Any], insert: str, rows: Sequence[Any], count: int
    ) -> Row | None:
        """What the guard returns; with the INSERT of so many rows a transaction of its own."""
        text, pick = whole(self._text[guard], self._text[insert], count)
        found = self.connection.execute(text, (*pick(values), *rows)).fetchall()
        return found[0] if found else None


class Attempt(SqliteTransaction):
    """A transaction on its way to its commit."""

    __slots__ = ("begun", "torn")

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self._text = statements("sqlite")
        self.begun = False
        self.torn = False
