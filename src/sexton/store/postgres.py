"""The ledger in a PostgreSQL database."""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from math import ceil
from typing import Any, Generic, NoReturn, TypeVar

import psycopg
from psycopg import errors as pg
from psycopg.conninfo import conninfo_to_dict

from sexton.errors import (
    LedgerBusy,
    LedgerClosed,
    LedgerError,
    LedgerFull,
    LedgerMissing,
    LedgerReadOnly,
    LedgerUnreachable,
)
from sexton.store import forking
from sexton.store.database import HIDDEN
from sexton.store.migrations import has_ledger, migrate_postgres
from sexton.store.postgres_connection import PooledConnection, connection_settings, learn
from sexton.store.postgres_pool import DEADLINE, NoConnection, Pool
from sexton.store.rows import Row
from sexton.store.statements import statements

T = TypeVar("T")
Connection = psycopg.Connection[Row]

MESSAGE = 1 << 18  # characters of SQL that are sent at once, and some more
_PARAMETER = re.compile(r"%\(\w+\)s")
ATTEMPTS = 30  # of a crowd that wants the same, each time at least one gets it

_ERRORS: tuple[tuple[type[psycopg.Error], type[LedgerError], str], ...] = (
    (pg.DiskFull, LedgerFull, "no room left for the ledger {url}"),
    (pg.ReadOnlySqlTransaction, LedgerReadOnly, "the ledger {url} is read-only"),
    (pg.InsufficientPrivilege, LedgerReadOnly, "no permission to use the ledger {url}"),
    (pg.DeadlockDetected, LedgerBusy, "the ledger {url} stayed locked"),
    (pg.SerializationFailure, LedgerBusy, "the ledger {url} stayed locked"),
    # Somebody was first since we looked: tried again, the statement sees what is there.
    (pg.UniqueViolation, LedgerBusy, "the ledger {url} stayed locked"),
    # The server ended a transaction of ours that stood still for too long: nothing was committed.
    (
        pg.IdleInTransactionSessionTimeout,
        LedgerBusy,
        "the ledger {url} gave up a write that stalled",
    ),
    (NoConnection, LedgerUnreachable, "the ledger {url} gave no connection in time"),
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
        # Not executemany: it pipelines, and the server ends no client that stands still within a
        # pipeline. It does end one that stands still before or within a message of many statements.
        listed = list(rows)
        if len(listed) == 1:
            self.all(name, **listed[0])
        elif listed:
            cursor = psycopg.ClientCursor(self._connection)
            prepare, parameters = _prepared(self._text[name])
            execute = (cursor.mogrify(parameters, values) for values in listed)
            for message in _messages(f"sexton_{os.urandom(8).hex()}", prepare, execute):
                cursor.execute(message)


def _messages(name: str, prepare: str, execute: Iterable[str]) -> Iterator[str]:
    """The SQL that runs a statement once for each list of values, in messages of bounded length."""
    message = f"PREPARE {name} AS {prepare}"
    for values in execute:
        message += f"EXECUTE {name} {values}"
        if len(message) > MESSAGE:
            yield message
            message = ""
    yield f"{message}DEALLOCATE {name}"


@cache
def _prepared(text: str) -> tuple[str, str]:
    """A statement as PREPARE wants it, and the list of its parameters as EXECUTE wants it."""
    places: dict[str, str] = {}
    prepare = _PARAMETER.sub(lambda match: places.setdefault(match[0], f"${len(places) + 1}"), text)
    return prepare.replace("%%", "%"), f"({', '.join(places)});"


class PostgresDatabase:
    """A pool of connections, each call under a deadline of our own.

    A frozen server defeats its own timeouts, so the pool cuts the socket when a call is late.
    """

    dialect = "postgres"

    def __init__(
        self, url: str, shown: str, *, create: bool, upgrade: bool, deadline: float | None
    ) -> None:
        self._url = _understood(url, shown)
        self._shown = shown
        self._deadline = deadline or DEADLINE
        self._closed = False
        self._settings = connection_settings(self._url)
        self._pool = Pool(self._connect, self._deadline)
        self._migrate(create=create, upgrade=upgrade)
        forking.watch(self)

    def read(self, job: Callable[[PostgresTransaction], T]) -> T:
        return self._run(job, "REPEATABLE READ READ ONLY")

    def write(self, job: Callable[[PostgresTransaction], T], *, lasting: bool = True) -> T:
        quick = "; SET LOCAL synchronous_commit = off"
        return self._run(job, "READ COMMITTED" if lasting else f"READ COMMITTED{quick}")

    def statement(self, name: str, /, **values: Any) -> list[Row]:
        return self._call(lambda connection: PostgresTransaction(connection).all(name, **values))

    def close(self) -> None:
        self._closed = True
        forking.forget(self)
        self._pool.close()

    def before_fork(self) -> None:
        """Nothing to wait for: the child never touches what the parent has open."""

    def after_fork_in_parent(self) -> None:
        """The parent's pool is as it was."""

    def after_fork_in_child(self) -> None:
        _abandoned.append(self._pool)
        self._pool = Pool(self._connect, self._deadline)

    def _connect(self, seconds: float) -> PooledConnection:
        return PooledConnection.connect(
            self._url, autocommit=True, connect_timeout=ceil(seconds), **self._settings
        )

    def _migrate(self, *, create: bool, upgrade: bool) -> None:
        def job(connection: Connection) -> None:
            self._settings = connection_settings(self._url, learn(self._url, connection))
            if not create and not has_ledger(connection):
                raise LedgerMissing(f"there is no ledger in {self._shown} yet")
            migrate_postgres(connection, upgrade=upgrade)

        # A server that is down says so at once.
        self._call(job, patient=False)

    def _run(self, job: Callable[[PostgresTransaction], T], isolation: str) -> T:
        until, was_lost = time.monotonic() + self._deadline, False
        for attempt in range(ATTEMPTS):
            transaction = _Attempt(job, isolation)
            try:
                return self._call(transaction)
            except LedgerBusy:  # a deadlock was broken at our cost; nothing was written
                if attempt == ATTEMPTS - 1:
                    raise
                time.sleep(os.urandom(1)[0] / 50_000)  # up to 5 ms, another time in each
            except LedgerUnreachable:
                # A transaction that broke before its commit was asked for has changed nothing.
                if not transaction.is_open or was_lost or time.monotonic() > until:
                    raise
                was_lost = True
        raise AssertionError("unreachable")

    def _call(self, job: Callable[[Connection], T], *, patient: bool = True) -> T:
        if self._closed:
            raise LedgerClosed(f"the ledger {self._shown} was closed")
        pool = self._pool  # another one after a fork, which does not know this loan
        try:
            loan = pool.borrow(patient=patient)
            try:
                assert loan.connection is not None
                return job(loan.connection)
            finally:
                pool.give_back(loan)
        except psycopg.Error as problem:
            self._explain(problem)

    def _explain(self, problem: psycopg.Error) -> NoReturn:
        for theirs, ours, words in _ERRORS:
            if isinstance(problem, theirs):
                if ours is LedgerUnreachable:
                    self._pool.doubt()
                raise ours(words.format(url=self._shown) + self._detail(problem)) from None
        raise problem

    def _detail(self, problem: Exception) -> str:
        first_line = str(problem).strip().partition("\n")[0]
        return "" if self._shown == HIDDEN else f" ({first_line})"


class _Attempt(Generic[T]):
    """One run of a job in a transaction; while `is_open`, nothing was committed for certain."""

    def __init__(self, job: Callable[[PostgresTransaction], T], isolation: str) -> None:
        self._job = job
        self._isolation = isolation
        self.is_open = False

    def __call__(self, connection: Connection) -> T:
        self.is_open = True
        # May be two commands, which no server prepares. An exception of a signal handler can make
        # psycopg forget that there were two, so it is not left to count them.
        connection.execute(f"BEGIN ISOLATION LEVEL {self._isolation}", prepare=False)
        result = self._job(PostgresTransaction(connection))
        self.is_open = False
        connection.execute("COMMIT")
        return result


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
