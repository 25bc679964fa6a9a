"""What is asked of a SQLite connection between two commits?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import apsw

from sexton.ledger.rows import Row
from sexton.ledger.statements import statements


class SqliteTransaction:
    """Statements, one after the other; unless read to its end, a result would not commit."""

    _text = statements("sqlite")

    def __init__(self, cursor: apsw.Cursor) -> None:
        self.cursor = cursor

    def all(self, name: str, /, **values: Any) -> list[Row]:
        return self.cursor.execute(self._text[name], values).fetchall()

    def one(self, name: str, /, **values: Any) -> Row | None:
        rows = self.cursor.execute(self._text[name], values).fetchall()
        return rows[0] if rows else None

    def many(self, name: str, rows: Iterable[Mapping[str, Any] | Sequence[Any]], /) -> None:
        # A list: a signal handler that came in a step of ours, within the engine, could not write.
        self.cursor.executemany(self._text[name], list(rows)).fetchall()


class Writer(NamedTuple):
    """A connection that may write; to make another cursor for each write takes time."""

    connection: apsw.Connection
    cursor: apsw.Cursor


class Attempt(SqliteTransaction):
    """A transaction on its way to its commit, and the one that a signal handler interrupted."""

    begun = False
    torn = False

    def __init__(self, writer: Writer, lasting: bool, interrupted: Attempt | None) -> None:
        self.writer = writer
        self.cursor = writer.cursor
        self.lasting = lasting
        self.interrupted = interrupted
