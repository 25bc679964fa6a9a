"""The ledger in one SQLite file."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn, TypeVar
from weakref import WeakSet

import apsw

from sexton.errors import LedgerClosed, LedgerGone
from sexton.ledger import forking, sqlite_file
from sexton.ledger.group_commit import GroupCommit, Ticket, run_at_once
from sexton.ledger.rows import Row
from sexton.ledger.sqlite_transaction import Attempt, SqliteTransaction

T = TypeVar("T")


class SqliteDatabase:
    """One file, one writing thread, as many readers as ask at once."""

    dialect = "sqlite"

    _group: GroupCommit[SqliteTransaction]
    _readers: list[apsw.Connection]
    _write_connection: apsw.Connection | None
    _attempt: Attempt | None

    def __init__(self, path: str | os.PathLike[str], patience: float | None = None) -> None:
        self.path = os.path.abspath(path)  # the program may change its directory
        self._closed = False
        self._patience = patience or sqlite_file.PATIENCE
        self._pid = os.getpid()
        self._clear()
        forking.watch(self)
        with self._busy:  # a child must not inherit a connection that is half open
            self._writer()  # opens and migrates, so that problems show at once
        _databases.add(self)

    def read(self, job: Callable[[SqliteTransaction], T]) -> T:
        reader = self._borrow()
        try:
            with sqlite_file.errors(self.path):
                reader.execute("BEGIN")
                try:
                    found = job(SqliteTransaction(reader))
                finally:
                    reader.execute("COMMIT")
            if sqlite_file.identity(self.path) != self._identity:
                self._refuse_gone()
            return found
        finally:
            self._give_back(reader)

    def write(self, job: Callable[[SqliteTransaction], T], *, lasting: bool = True) -> T:
        if self._closed or self._pid != os.getpid():
            self._check_usable()
        try:
            return self._group.run(job, lasting=lasting)
        except apsw.Error as problem:
            sqlite_file.explain(problem, self.path)

    def statement(self, name: str, /, **values: Any) -> list[Row]:
        return self.write(lambda tx: tx.all(name, **values))

    def fold(self) -> None:
        """Copy the log into the file as far as nobody needs it; whoever writes goes on."""
        reader = self._borrow()
        try:
            # Where somebody else copies it just now, that is as good.
            with sqlite_file.errors(self.path), suppress(apsw.BusyError):
                reader.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        finally:
            self._give_back(reader)

    def close(self) -> None:
        self._closed = True
        self._group.stop()
        with self._busy, self._gate:
            self._set_aside()
            self._drop_writer()
            while self._readers:
                self._readers.pop().close()
        forking.forget(self)

    def before_fork(self) -> None:
        self._busy.acquire()
        self._set_aside()
        self._gate.acquire()
        self._forking = True  # new readers wait, or there might never be a moment without any
        while self._reading:
            self._gate.wait()

    def after_fork_in_parent(self) -> None:
        self._forking = False
        self._gate.notify_all()
        self._gate.release()
        self._busy.release()

    def after_fork_in_child(self) -> None:
        for connection in (
            *self._readers,
            *([self._write_connection] if self._write_connection else []),
        ):
            # The parent still uses the file: close without the tidying of a last user.
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            connection.close()
        self._pid = os.getpid()
        self._clear()

    def stop(self) -> None:
        """Commit what is queued; later writes run in their caller's thread."""
        self._group.stop()

    def _clear(self) -> None:
        self._busy = threading.RLock()
        self._gate = threading.Condition()
        self._reading = 0
        self._forking = False
        self._readers = []
        self._write_connection = None
        self._attempt = None
        self._group = GroupCommit(self._commit, self._busy)

    def _check_usable(self) -> None:
        if self._closed:
            raise LedgerClosed(f"the ledger {self.path} was closed")
        if self._pid != os.getpid():  # forked past our hooks, by C code
            self.after_fork_in_child()

    def _refuse_gone(self) -> NoReturn:
        """What is in a file that nobody else finds any more is worth nothing."""
        raise LedgerGone(f"the ledger {self.path} was removed or replaced")

    def _writer(self) -> apsw.Connection:
        if self._write_connection is None:
            self._write_connection = sqlite_file.open_writer(self.path, self._patience)
            self._identity = sqlite_file.identity(self.path)
        return self._write_connection

    def _borrow(self) -> apsw.Connection:
        self._check_usable()
        with self._gate:
            while self._forking:
                self._gate.wait()
            self._reading += 1
            if self._readers:
                return self._readers.pop()
        opened = None
        try:
            opened = sqlite_file.open_reader(self.path, self._patience)
            return opened
        finally:
            if opened is None:
                self._give_back(None)

    def _give_back(self, reader: apsw.Connection | None) -> None:
        with self._gate:
            if reader is not None:
                self._readers.append(reader)
            self._reading -= 1
            self._gate.notify_all()

    def _commit(self, batch: list[Ticket[SqliteTransaction]]) -> None:
        """Run the batch in one transaction; if a job fails, each runs in one of its own."""
        try:
            self._commit_together(batch)
        except BaseException as problem:  # noqa: BLE001  # raised again in the job's caller
            if isinstance(problem, apsw.IOError):
                # What the disk holds now is unknown to this connection: never go on with it.
                self._drop_writer()
            elif len(batch) > 1 and not isinstance(problem, apsw.BusyError | LedgerGone):
                for ticket in batch:
                    self._commit([ticket])
                return
            for ticket in batch:
                ticket.error = problem

    def _drop_writer(self) -> None:
        connection, self._write_connection = self._write_connection, None
        if connection is not None:
            connection.close(True)  # also in the middle of several statements

    def _commit_together(self, batch: list[Ticket[SqliteTransaction]]) -> None:
        self._set_aside()
        interrupted = self._attempt
        while True:
            attempt = self._attempt = Attempt(self._write_connection or self._writer())
            try:
                return self._try(attempt, batch)
            except (apsw.ConnectionClosedError, apsw.CursorClosedError):
                if not attempt.torn or self._closed:
                    raise
            finally:
                self._attempt = interrupted
                if attempt.connection is not self._write_connection:
                    attempt.connection.close()

    def _set_aside(self) -> None:
        """Make way for a signal handler that came in the middle of its own thread's commit.

        The handler's write must be durable before it returns, so it can not share the open
        transaction: that one is rolled back and run again afterwards.
        """
        attempt, current = self._attempt, self._write_connection
        if current is None:
            return
        if current.in_transaction:  # also what an exception left behind in the middle of tidying
            if attempt is not None and attempt.connection is current:
                attempt.torn = True
            self._drop_writer()
        elif attempt is not None and attempt.connection is current and not attempt.begun:
            self._write_connection = None  # it waits for the lock, and may go on waiting

    def _try(self, attempt: Attempt, batch: list[Ticket[SqliteTransaction]]) -> None:
        connection = attempt.connection
        lasts = batch[0].lasting or any([ticket.lasting for ticket in batch])
        try:
            if not lasts:
                connection.execute("PRAGMA synchronous = NORMAL")  # the next one to last syncs all
            if not run_at_once(attempt, batch):
                connection.execute("BEGIN IMMEDIATE")
                attempt.begun = True
                for ticket in batch:
                    ticket.result = ticket.job(attempt)
                connection.execute("COMMIT")
            if sqlite_file.identity(self.path) != self._identity:
                self._refuse_gone()
        finally:
            if not attempt.torn:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                if not lasts:
                    connection.execute("PRAGMA synchronous = FULL")


_databases: WeakSet[SqliteDatabase] = WeakSet()


@atexit.register
def _stop_at_exit() -> None:
    """A writer thread that still ran would be frozen in the middle of a commit."""
    for database in list(_databases):
        database.stop()
