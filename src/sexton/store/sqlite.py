"""The ledger in one SQLite file."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, NoReturn, TypeVar
from weakref import WeakSet

import apsw

from sexton.errors import LedgerBusy, LedgerClosed, LedgerGone
from sexton.store import forking, sqlite_file
from sexton.store.group_commit import GroupCommit
from sexton.store.rows import Row
from sexton.store.sqlite_readers import Readers, leave_alone
from sexton.store.statements import statements

T = TypeVar("T")

_COMMON = (apsw.IOError, apsw.BusyError, LedgerGone)  # no job can help it, each would meet it again


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


class SqliteDatabase:
    """One file, one writing thread, as many readers as ask at once."""

    dialect = "sqlite"

    _group: GroupCommit[SqliteTransaction]
    _writer: Writer | None

    def __init__(self, path: str | os.PathLike[str], patience: float | None = None) -> None:
        self.path = os.path.abspath(path)  # the program may change its directory
        self._whereabouts: sqlite_file.Whereabouts | None = None
        self._closed = self._let_go = False
        self._patience = patience or sqlite_file.PATIENCE
        self._pid = os.getpid()
        self._clear()
        forking.watch(self)
        with self._busy:  # a child must not inherit a connection that is half open
            self._open_writer()  # and migrates, so that problems show at once
        _databases.add(self)

    def read(self, job: Callable[[SqliteTransaction], T]) -> T:
        self._check_usable()
        loan = self._readers.borrow()
        try:
            reader = loan.connection
            with sqlite_file.errors(self.path):
                reader.execute("BEGIN")
                try:
                    found = job(SqliteTransaction(reader.cursor()))
                finally:
                    reader.execute("COMMIT")
            self._check_here()
            return found
        finally:
            self._readers.give_back(loan)

    def write(self, job: Callable[[SqliteTransaction], T], *, lasting: bool = True) -> T:
        if self._closed or self._pid != os.getpid():
            self._check_usable()
        if self._group.is_mine:
            self._refuse_within()
        try:
            return self._group.run(job, lasting=lasting)
        except apsw.Error as problem:
            if self._let_go:  # by a signal handler, in the middle of the write
                self._refuse_closed()
            sqlite_file.explain(problem, self.path)

    def statement(self, name: str, /, **values: Any) -> list[Row]:
        return self.write(lambda tx: tx.all(name, **values))

    def checkpoint(self) -> None:
        """Copy the log into the file as far as nobody needs it; whoever writes goes on."""
        self._check_usable()
        loan = self._readers.borrow()
        try:
            # Where somebody else copies it just now, that is as good.
            with sqlite_file.errors(self.path), suppress(apsw.BusyError):
                loan.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        finally:
            self._readers.give_back(loan)

    def close(self) -> None:
        self._closed = True
        self._group.stop()
        with self._busy:
            self._drop_writer()
            self._let_go = True
        self._readers.close()
        forking.forget(self)

    def before_fork(self) -> None:
        self._busy.acquire()
        self._drop_if_open()  # the write that a signal handler interrupts, and forks in, fails
        self._readers.before_fork()

    def after_fork_in_parent(self) -> None:
        self._readers.after_fork_in_parent()
        self._busy.release()

    def after_fork_in_child(self) -> None:
        self._readers.after_fork_in_child()
        if self._writer is not None:
            leave_alone(self._writer.connection)
        self._pid = os.getpid()
        self._clear()

    def stop(self) -> None:
        """Commit what is queued; later writes run in their caller's thread."""
        self._group.stop()

    def _clear(self) -> None:
        self._busy = threading.RLock()
        self._readers = Readers(self._open_reader)
        self._writer = None
        self._group = GroupCommit(self._commit, self._busy, _COMMON)

    def _check_usable(self) -> None:
        if self._closed:
            self._refuse_closed()
        if self._pid != os.getpid():  # forked past our hooks, by C code
            self.after_fork_in_child()

    def _refuse_closed(self) -> NoReturn:
        raise LedgerClosed(f"the ledger {self.path} was closed")

    def _refuse_within(self) -> NoReturn:
        """Its transaction is not this one's, and this one's would wait for it for ever."""
        raise LedgerBusy(
            f"a signal handler cannot write to the ledger {self.path} while it interrupts a write",
            hint="Let the handler set a flag or raise, and write when the call has returned.",
        )

    def _refuse_gone(self) -> NoReturn:
        """What is in a file that nobody else finds any more is worth nothing."""
        self._readers.renew()
        raise LedgerGone(f"the ledger {self.path} was removed or replaced")

    def _part_after(self, problem: Exception) -> None:
        """Never go on with a connection that does not know what the disk holds now.

        But a file that is gone is kept open: its number might go to another ledger at its place.
        """
        known = self._whereabouts
        if not isinstance(problem, LedgerGone) or known is None or known.has_file:
            self._drop_writer()

    def _open_writer(self) -> Writer:
        if self._let_go:
            self._refuse_closed()
        self._check_here()
        connection = sqlite_file.open_writer(self.path, self._patience)
        self._whereabouts = sqlite_file.Whereabouts(self.path)
        self._writer = Writer(connection)
        return self._writer

    def _open_reader(self) -> apsw.Connection:
        self._check_here()
        return sqlite_file.open_reader(self.path, self._patience)

    def _check_here(self) -> None:
        """Another file at the ledger's place is another ledger, or none."""
        if self._whereabouts is not None and not self._whereabouts.has_file:
            self._refuse_gone()

    def _commit(self, job: Callable[[SqliteTransaction], T], lasting: bool) -> T:
        """Run a job in a transaction; what it stored is where others find it."""
        self._drop_if_open()  # an exception came in the middle of a rollback
        writer = self._writer or self._open_writer()
        try:
            done = writer.commit(job, lasting)
            if self._whereabouts is None or not self._whereabouts.are_known():
                self._refuse_gone()
        except (apsw.IOError, LedgerGone) as problem:
            self._part_after(problem)
            raise
        return done

    def _drop_if_open(self) -> None:
        """Give up a transaction that is under way; it is rolled back."""
        if self._writer is not None and self._writer.connection.in_transaction:
            self._drop_writer()

    def _drop_writer(self) -> None:
        """Close it; the next write opens another one."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with suppress(apsw.ThreadingViolationError):  # it waits for a lock, and goes on waiting
                writer.connection.close(True)  # also in the middle of several statements


_databases: WeakSet[SqliteDatabase] = WeakSet()


@atexit.register
def _stop_at_exit() -> None:
    """A writer thread that still ran would be frozen in the middle of a commit."""
    for database in list(_databases):
        database.stop()
