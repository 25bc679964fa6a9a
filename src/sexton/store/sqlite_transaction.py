"""What is asked of a SQLite connection between two commits?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import apsw

from sexton.store.rows import Row
from sexton.store.statements import statements


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


class Writer:
    """A connection that may write; to make another cursor for each write takes time.

    `may_be_relaxed` is set before the connection stops syncing its commits and cleared after it
    syncs them again. An exception between any two steps leaves it set.
    """

    __slots__ = ("connection", "cursor", "may_be_relaxed")

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self.cursor = connection.cursor()
        self.may_be_relaxed = False

    def sync(self, durable: bool) -> None:
        """Have the next commit reach the disk before it returns, or not."""
        if not durable:
            self.may_be_relaxed = True
            self.cursor.execute("PRAGMA synchronous = NORMAL")  # the next durable commit syncs all
        elif self.may_be_relaxed:
            self.cursor.execute("PRAGMA synchronous = FULL")
            self.may_be_relaxed = False


class Attempt(SqliteTransaction):
    """A transaction on its way to its commit, and the one that a signal handler interrupted."""

    begun = False
    torn = False

    def __init__(self, writer: Writer, lasting: bool, interrupted: Attempt | None) -> None:
        self.writer = writer
        self.cursor = writer.cursor
        self.lasting = lasting
        self.interrupted = interrupted
