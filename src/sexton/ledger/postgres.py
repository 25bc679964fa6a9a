"""The ledger in a PostgreSQL database."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from math import ceil
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import psycopg
from psycopg import errors as pg
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool, PoolTimeout

from sexton.errors import (
    LedgerBusy,
    LedgerClosed,
    LedgerError,
    LedgerFull,
    LedgerMissing,
    LedgerReadOnly,
    LedgerUnreachable,
)
from sexton.ledger import forking
from sexton.ledger.database import HIDDEN
from sexton.ledger.deadline import DEADLINE, Watchdog
from sexton.ledger.migrations import has_ledger, migrate_postgres
from sexton.ledger.rows import Row
from sexton.ledger.statements import statements

T = TypeVar("T")
Connection = psycopg.Connection[Row]

POOL_SIZE = 16
FRESH = 2.0  # seconds for which a returned connection is trusted without asking
ATTEMPTS = 30  # of a crowd that wants the same, each time at least one gets it

_OPTIONS: dict[str, Any] = {
    "autocommit": True,
    "application_name": "sexton",
}

_ERRORS: tuple[tuple[type[psycopg.Error], type[LedgerError], str], ...] = (
    (pg.DiskFull, LedgerFull, "no room left for the ledger {url}"),
    (pg.ReadOnlySqlTransaction, LedgerReadOnly, "the ledger {url} is read-only"),
    (pg.InsufficientPrivilege, LedgerReadOnly, "no permission to use the ledger {url}"),
    (pg.DeadlockDetected, LedgerBusy, "the ledger {url} stayed locked"),
    (pg.SerializationFailure, LedgerBusy, "the ledger {url} stayed locked"),
    # Somebody was first since we looked: tried again, the statement sees what is there.
    (pg.UniqueViolation, LedgerBusy, "the ledger {url} stayed locked"),
    (PoolTimeout, LedgerUnreachable, "the ledger {url} gave no connection in time"),
    (psycopg.OperationalError, LedgerUnreachable, "the ledger {url} does not answer"),
    (psycopg.ProgrammingError, LedgerError, "the ledger {url} can not be used"),
)

# Our errors say it already: what the driver and its pool log is for who has set up logging.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

_abandoned: list[object] = []
"""Pools inherited through a fork: never used, never closed, as the parent owns their sockets."""


class PostgresTransaction:
    """Statements on one connection."""

    __slots__ = ("_connection", "_text")

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._text = statements("postgres")

    def all(self, name: str, /, **values: Any) -> list[Row]:
        # The text is our own; only values come from outside, as parameters.
        cursor = self._connection.execute(self._text[name], values)
        return cursor.fetchall() if cursor.description else []

    def one(self, name: str, /, **values: Any) -> Row | None:
        rows = self.all(name, **values)
        return rows[0] if rows else None

    def many(self, name: str, rows: Iterable[Mapping[str, Any]], /) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(self._text[name], list(rows))


class PostgresDatabase:
    """A pool of connections, each call under a deadline of our own.

    A frozen server defeats its own timeouts, so a watchdog cuts the socket when a call is late.
    """

    dialect = "postgres"

    def __init__(
        self, url: str, shown: str, *, create: bool, upgrade: bool, deadline: float | None
    ) -> None:
        self._url = _understood(url, shown)
        self._shown = shown
        self._deadline = deadline or DEADLINE
        self._closed = False
        self._clear()
        self._migrate(create=create, upgrade=upgrade)
        forking.watch(self)

    def read(self, job: Callable[[PostgresTransaction], T]) -> T:
        return self._run(job, "REPEATABLE READ READ ONLY")

    def write(self, job: Callable[[PostgresTransaction], T], *, lasting: bool = True) -> T:
        quick = "; SET LOCAL synchronous_commit = off"
        return self._run(job, "READ COMMITTED" if lasting else f"READ COMMITTED{quick}")

    def statement(self, name: str, /, **values: Any) -> list[Row]:
        with self._connection() as connection:
            return PostgresTransaction(connection).all(name, **values)

    def close(self) -> None:
        self._closed = True
        forking.forget(self)
        self._pool.close(timeout=self._deadline)
        self._watchdog.stop()

    def before_fork(self) -> None:
        """Nothing to wait for: the child never touches what the parent has open."""

    def after_fork_in_parent(self) -> None:
        """The parent's pool is as it was."""

    def after_fork_in_child(self) -> None:
        _abandoned.append(self._pool)
        self._clear()

    def _clear(self) -> None:
        self._watchdog = Watchdog(self._deadline)
        own = conninfo_to_dict(self._url).get("options") or ""
        self._options = _OPTIONS | {
            "connect_timeout": ceil(self._deadline),
            # Acknowledged means durable, whatever the server's own default is.
            "options": f"{own} -c search_path=sexton -c synchronous_commit=on",
        }
        self._suspect = 0.0  # when a call last failed: what was returned before is asked first
        self._returned: WeakKeyDictionary[Connection, float] = WeakKeyDictionary()
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            self._url,
            connection_class=psycopg.Connection,
            kwargs=self._options,
            min_size=0,
            max_size=POOL_SIZE,
            timeout=self._deadline,
            reconnect_timeout=self._deadline,
            open=False,
            name="sexton-ledger",
        )

    def _migrate(self, *, create: bool, upgrade: bool) -> None:
        # Asked for directly, a server that is down says so at once; the pool would wait.
        with (
            self._errors(),
            psycopg.connect(self._url, **self._options) as connection,
            self._watchdog.guard(connection),
        ):
            if not create and not has_ledger(connection):
                raise LedgerMissing(f"there is no ledger in {self._shown} yet")
            migrate_postgres(connection, upgrade=upgrade)

    def _run(self, job: Callable[[PostgresTransaction], T], isolation: str) -> T:
        for attempt in range(ATTEMPTS):
            try:
                with self._connection() as connection:
                    connection.execute(f"BEGIN ISOLATION LEVEL {isolation}")
                    try:
                        result = job(PostgresTransaction(connection))
                        connection.execute("COMMIT")
                        return result
                    finally:
                        _roll_back_if_open(connection)
            except LedgerBusy:  # a deadlock was broken at our cost; nothing was written
                if attempt == ATTEMPTS - 1:
                    raise
                time.sleep(os.urandom(1)[0] / 50_000)  # up to 5 ms, another time in each
        raise AssertionError("unreachable")

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        with self._errors():
            if self._closed:
                raise LedgerClosed(f"the ledger {self._shown} was closed")
            if self._pool.closed:
                self._pool.open()
            until = time.monotonic() + self._deadline
            while True:  # not by the pool, which waits longer after each that is found broken
                with self._pool.connection(until - time.monotonic()) as connection:
                    if self._works(connection):
                        with self._watchdog.guard(connection):
                            yield connection
                        self._returned[connection] = time.monotonic()
                        return

    def _works(self, connection: Connection) -> bool:
        """Whether it can be used; one that has rested is asked, under the deadline too."""
        returned = self._returned.get(connection, 0.0)
        if returned < max(self._suspect, time.monotonic() - FRESH):
            try:
                with self._watchdog.guard(connection):
                    connection.execute("SELECT 1")
            except psycopg.Error:
                return False
        return True

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (psycopg.Error, PoolTimeout) as problem:
            for theirs, ours, words in _ERRORS:
                if isinstance(problem, theirs):
                    if ours is LedgerUnreachable:
                        self._suspect = time.monotonic()
                    raise ours(words.format(url=self._shown) + self._detail(problem)) from None
            raise

    def _detail(self, problem: Exception) -> str:
        first_line = str(problem).strip().partition("\n")[0]
        return "" if self._shown == HIDDEN else f" ({first_line})"


def _roll_back_if_open(connection: Connection) -> None:
    status = psycopg.pq.TransactionStatus
    if connection.closed or connection.info.transaction_status == status.IDLE:
        return
    if connection.info.transaction_status == status.ACTIVE:
        connection.close()  # the exception of a signal handler, which came while it waited
    else:
        connection.execute("ROLLBACK")


def _understood(url: str, shown: str) -> str:
    """The URL, if it can be read as one; the reason why not could quote a part of the password."""
    try:
        host = str(conninfo_to_dict(url).get("host", ""))
    except psycopg.ProgrammingError:
        host = "@"
    if "@" in host:
        raise LedgerError(
            f"the ledger's address {shown} can not be read",
            hint="Write postgresql://user:password@host/database and percent-encode the password.",
        )
    return url
