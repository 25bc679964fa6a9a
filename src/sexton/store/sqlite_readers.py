"""Which connections read a ledger's file, and who has them just now?

An exception may come from a signal handler between any two steps. So what is lent is not counted
but held by whoever reads: where a loan is forgotten, it is over. And a connection that was left in
the middle of something is not lent a second time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from weakref import WeakSet

import apsw

_abandoned: list[apsw.Connection] = []
"""Inherited through a fork and never closed: they were at work at that moment."""

PAUSE = 0.01  # seconds; nobody is told of a loan that is forgotten


class Loan:
    """A connection in the hands of one thread."""

    __slots__ = ("__weakref__", "age", "connection", "thread")

    connection: apsw.Connection

    def __init__(self, age: int) -> None:
        self.thread = threading.get_ident()
        self.age = age


class Readers:
    """As many connections as are asked for at once; `connect` opens another one."""

    def __init__(self, connect: Callable[[], apsw.Connection]) -> None:
        self._connect = connect
        self._lock = threading.RLock()  # entered in one step, so that no exception leaves it locked
        self._gate = threading.Condition(self._lock)
        self._idle: list[apsw.Connection] = []
        self._lent: WeakSet[Loan] = WeakSet()
        self._age = 0
        self._forking = self._closed = False

    def borrow(self) -> Loan:
        """A connection without a transaction."""
        with self._lock:
            while self._forking:
                self._gate.wait()
            loan = Loan(self._age)
            self._lent.add(loan)
            if self._idle:
                loan.connection = self._idle.pop()
                return loan
        opened = None
        try:
            opened = loan.connection = self._connect()
            return loan
        finally:
            if opened is None:  # whoever keeps the exception keeps the loan
                self._lent.discard(loan)

    def give_back(self, loan: Loan) -> None:
        """Have it lent to others, unless it was left in the middle of something or is outdated."""
        with self._lock:
            is_ours = loan in self._lent
            self._lent.discard(loan)
            if not is_ours:  # lent before a fork, to a frame that a signal handler forked in
                leave_alone(loan.connection)
            elif self._closed or loan.age != self._age or loan.connection.in_transaction:
                loan.connection.close()
            else:
                self._idle.append(loan.connection)
            self._gate.notify_all()

    def renew(self) -> None:
        """Close all of them, those that are lent as soon as they are given back."""
        with self._lock:
            self._age += 1
            while self._idle:
                self._idle.pop().close()

    def close(self) -> None:
        """The same, and none is kept any more."""
        self._closed = True
        self.renew()

    def before_fork(self) -> None:
        """Wait until no other thread reads; whoever begins to waits, or that might never be."""
        self._lock.acquire()
        self._forking = True
        while any(loan.thread != threading.get_ident() for loan in list(self._lent)):
            self._gate.wait(PAUSE)

    def after_fork_in_parent(self) -> None:
        self._forking = False
        self._gate.notify_all()
        self._lock.release()

    def after_fork_in_child(self) -> None:
        """Let go of all of them; what comes after that needs readers of its own."""
        self._lent = WeakSet()
        while self._idle:
            leave_alone(self._idle.pop())


def leave_alone(connection: apsw.Connection) -> None:
    """Close it without the tidying of a last user: the parent still uses the file."""
    try:
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.close()
    except apsw.ThreadingViolationError:  # a signal handler forked while a statement waited
        _abandoned.append(connection)
