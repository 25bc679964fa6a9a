"""What is asked of a SQLite connection between two commits?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import apsw

from sexton.store.rows import Row
from sexton.store.statements import statements

T = TypeVar("T")


class SqliteTransaction:
    """Statements, one after the other; unless read to its end, a result would not commit."""

    __slots__ = ("cursor",)

    _text = statements("sqlite")

    def __init__(self, cursor: apsw.Cursor) -> None:
        self.cursor = cursor

    def all(self, name: str, /, **values: Any) -> list[Row]:
        return self.cursor.execute(self._text[name], values).fetchall()

    def one(self, name: str, /, **values: Any) -> Row | None:
        rows = self.cursor.execute(self._text[name], values).fetchall()
        return rows[0] if rows else None

    def many(self, name: str, rows: Iterable[Mapping[str, Any]], /) -> None:
        # A list: no step of ours runs within the engine, where a signal handler could not read.
        self.cursor.executemany(self._text[name], list(rows)).fetchall()


class Writer(SqliteTransaction):
    """A connection that may write; to make another cursor for each write takes time.

    `may_be_relaxed` is set before the connection stops syncing its commits and cleared after it
    syncs them again. An exception between any two steps leaves it set.
    """

    __slots__ = ("connection", "may_be_relaxed")

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection.cursor())
        self.connection = connection
        self.may_be_relaxed = False

    def sync(self, durable: bool) -> None:
        """Have the next commit reach the disk before it returns, or not."""
        if not durable:
            self.may_be_relaxed = True
            self.cursor.execute("PRAGMA synchronous = NORMAL")  # the next durable commit syncs all
        elif self.may_be_relaxed:
            self.cursor.execute("PRAGMA synchronous = FULL")
            self.may_be_relaxed = False

    def commit(self, job: Callable[[SqliteTransaction], T], durable: bool) -> T:
        """Run a job in a transaction of its own, which is rolled back if anything fails."""
        execute = self.cursor.execute
        try:
            self.sync(durable)
            execute("BEGIN IMMEDIATE")
            done = job(self)
            execute("COMMIT")
            return done
        except BaseException:
            with suppress(apsw.ConnectionClosedError):  # by a signal handler
                if self.connection.in_transaction:
                    execute("ROLLBACK")
            raise
