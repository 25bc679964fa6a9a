"""Connections to a server: who has them, for how long, and who is next.

An exception may come from a signal handler between any two steps. So nothing here is counted up and
down. A loan is in force while its caller references it and its deadline has not passed; the first
loans in force, in the order in which they were asked for, may have a connection. A loan that was
forgotten is over, and its connection is closed by being forgotten as well.

There is no lock, for the same reason and because a handler may borrow while its own thread does:
what threads share is changed by single steps.

Neither a statement timeout nor a TCP timeout ends a call to a frozen server. So the socket of a
late call is cut, and its caller gets an error at once. The server may still work for that call, or
wait for a row. A thread that nobody waits for asks it to stop, over another connection.
"""

from __future__ import annotations

import errno
import os
import select
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any
from weakref import ref

import psycopg
from psycopg.pq import PollingStatus, TransactionStatus

from sexton.core.troubles import Troubles
from sexton.store.postgres_connection import PooledConnection

SIZE = 16
DEADLINE = 15.0
CANCEL_DEADLINE = 5.0  # seconds; a frozen server does not take a cancel request either
_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS)
_OVER = (PollingStatus.OK, PollingStatus.FAILED)
FRESH = 2.0  # seconds for which a returned connection is trusted without asking
LONGEST_REST = 600.0  # seconds after which a connection that nobody needs is closed
_LOOK_EVERY = 0.25
_LOOK_SELDOM = 60.0
_PAUSE = 0.05  # seconds; a loan that is forgotten wakes nobody
_SHORTEST_WAIT, _LONGEST_WAIT = 0.05, 1.0  # between two attempts to connect


class NoConnection(psycopg.OperationalError):
    """All connections stayed in use."""


class Loan:
    """A connection in the hands of one caller; watched until its deadline."""

    __slots__ = (
        "__weakref__", "connection", "gate", "is_cut", "is_given_up", "is_waiting", "number",
        "until",
    )  # fmt: skip

    def __init__(self, number: int, until: float) -> None:
        self.number = number
        self.until = until
        self.connection: PooledConnection | None = None
        self.is_cut = False
        self.is_given_up = False  # cut, and done with: what fails in between is tried again
        self.is_waiting = False
        self.gate = threading.Lock()
        self.gate.acquire()


class Pool:
    """At most `size` connections, lent in the order of asking; `connect` has a time limit."""

    def __init__(
        self, connect: Callable[[float], PooledConnection], deadline: float, size: int = SIZE
    ) -> None:
        self._pid = os.getpid()
        self._connect = connect
        self._deadline = deadline
        self._size = size
        self._numbers = count()
        self._loans: dict[int, ref[Loan]] = {}  # in the order of asking
        self._idle: list[tuple[PooledConnection, float]] = []  # and when each was returned
        self._suspect = 0.0
        self._closed = False
        self._thread: threading.Thread | None = None
        self._wanted = threading.Lock()
        self._is_asleep = False
        self._troubles = Troubles("sexton.ledger")

    def borrow(self, *, patient: bool = True) -> Loan:
        """A loan with a connection that works; without patience the first failure is raised."""
        loan = Loan(next(self._numbers), time.monotonic() + self._deadline)
        try:
            self._loans[loan.number] = ref(loan)
            self._have_watched()
            self._wait_for_turn(loan)
            self._provide(loan, patient)
            loan.until = time.monotonic() + self._deadline
            if loan.is_cut:
                raise NoConnection("no connection came in time")
        except BaseException:
            self.give_back(loan)
            raise
        return loan

    def give_back(self, loan: Loan) -> None:
        """Have the connection lent to others, unless it was left in the middle of something.

        A forked child gives nothing back: to cancel what the connection does would hit its parent.
        """
        if self._pid != os.getpid():
            return
        connection = loan.connection
        if connection is not None:
            is_well = _is_tidied(connection)
            loan.connection = None  # first: it must not be cut as this call's once it is another's
            if is_well and not loan.is_cut and not self._closed:
                self._idle.append((connection, time.monotonic()))
            elif not connection.closed:
                connection.close()
        self._loans.pop(loan.number, None)
        self._wake_next()
        if self._closed:
            self._close_idle(time.monotonic())

    def doubt(self) -> None:
        """Have every connection that was returned before now asked whether it works."""
        self._suspect = time.monotonic()

    def close(self) -> None:
        """Close all of them, those that are lent as soon as they are given back."""
        self._closed = True
        self._close_idle(time.monotonic())
        _release(self._wanted)

    def _wait_for_turn(self, loan: Loan) -> None:
        loan.is_waiting = True
        while self._ahead_of(loan) >= self._size:
            left = loan.until - time.monotonic()
            if left <= 0:
                raise NoConnection(f"{self._size} connections stayed in use")
            loan.gate.acquire(timeout=min(left, _PAUSE))
        loan.is_waiting = False

    def _ahead_of(self, loan: Loan) -> int:
        now, ahead = time.monotonic(), 0
        for number, reference in self._loans.copy().items():
            other = reference()
            if other is loan:
                break
            if other is None:
                self._loans.pop(number, None)
            elif other.until > now:  # else it was cut, or an exception that is kept keeps it
                ahead += 1
        return ahead

    def _wake_next(self) -> None:
        for reference in self._loans.copy().values():
            loan = reference()
            if loan is not None and loan.is_waiting:
                _release(loan.gate)
                return

    def _provide(self, loan: Loan, patient: bool) -> None:
        """One that rested, if it works; else a new one, which a server that restarts gives late."""
        while self._take_idle(loan):
            pass
        wait = _SHORTEST_WAIT
        while loan.connection is None:
            left = loan.until - time.monotonic()
            if left <= 0:
                raise NoConnection("no connection worked")
            try:
                loan.connection = self._connect(left)
            except psycopg.OperationalError:
                if not patient or left <= wait:
                    raise
                time.sleep(wait)
                wait = min(2 * wait, _LONGEST_WAIT)

    def _take_idle(self, loan: Loan) -> bool:
        """Take one that rested; whether to try another, as it was broken."""
        try:
            loan.connection, returned = self._idle.pop()
        except IndexError:
            return False
        if returned > max(self._suspect, time.monotonic() - FRESH):
            return False
        try:
            loan.connection.execute("SELECT 1")
        except psycopg.Error:
            loan.connection.close()
            loan.connection = None
            return True
        return False

    def _close_idle(self, returned_before: float) -> None:
        with suppress(IndexError):
            while self._idle[0][1] <= returned_before:
                self._idle.pop(0)[0].close()

    def _have_watched(self) -> None:
        thread = self._thread
        if thread is None or not thread.is_alive():
            thread = threading.Thread(
                target=_watch,
                args=(ref(self), self._wanted, self._troubles),
                name="sexton-deadline",
                daemon=True,
            )
            self._thread = thread  # before it runs: an interrupt while it starts must not lose it
            with suppress(RuntimeError):  # none can be started, as at exit: then TCP has to notice
                thread.start()
        elif self._is_asleep:
            _release(self._wanted)

    def look(self) -> float | None:
        """Cut what is late, close what rested for long; when to look again, None if never."""
        if self._thread is not threading.current_thread():
            return None
        now = time.monotonic()
        for number, reference in self._loans.copy().items():
            loan = reference()
            if loan is None:
                self._loans.pop(number, None)
            elif loan.until < now and not loan.is_given_up:
                # In this order: whoever gives it back at this moment either has taken the
                # connection out of the loan already, or sees that it was cut.
                loan.is_cut = True
                if (connection := loan.connection) is not None:
                    give_up(connection)
                loan.is_given_up = True
        self._close_idle(now - LONGEST_REST)
        self._is_asleep = True  # before the last look: whoever borrows after that wakes the thread
        if self._loans:
            self._is_asleep = False
            return _LOOK_EVERY
        return None if self._closed else _LOOK_SELDOM


def _watch(reference: ref[Pool], wanted: threading.Lock, troubles: Troubles) -> None:
    """Look after a pool for as long as somebody has it; keeps neither it nor a loan alive.

    Survives every exception: calls that are late would wait for a frozen server without it.
    """
    pause: float | None = _LOOK_EVERY
    while pause is not None:
        wanted.acquire(timeout=pause)
        pool = reference()
        try:
            pause = None if pool is None else pool.look()
        except Exception as trouble:  # noqa: BLE001  # no descriptor to cut a connection with, say
            troubles("watch", "a look at the connections failed", trouble)
            pause = _LOOK_EVERY
        del pool


def _release(gate: threading.Lock) -> None:
    with suppress(RuntimeError):  # it is open already
        gate.release()


def _is_tidied(connection: psycopg.Connection[Any]) -> bool:
    """Whether the connection has no transaction any more; an open one is rolled back."""
    status = connection.info.transaction_status
    if status == TransactionStatus.IDLE:
        return True
    if status == TransactionStatus.ACTIVE:
        with suppress(OSError):  # no descriptor for it: then it is only closed
            give_up(connection)  # the exception of a signal handler, which came while it waited
        return False
    try:
        connection.execute("ROLLBACK")
    except psycopg.Error:
        return False
    return True


def give_up(connection: psycopg.Connection[Any]) -> None:
    """Cut a connection and have the server cancel its query; returns at once.

    OSError if there is no descriptor or memory to cut it with now.
    """
    request = None
    with suppress(psycopg.Error):
        request = _cancel_request(connection.pgconn)
    _cut(connection)
    if request is not None:
        with suppress(RuntimeError):  # no thread can be started: the server notices the cut itself
            threading.Thread(target=request, name="sexton-cancel", daemon=True).start()


def _cancel_request(pgconn: psycopg.pq.abc.PGconn) -> Any:
    """The function of the thread; made before the cut, as a broken connection gives none."""
    if psycopg.capabilities.has_cancel_safe():
        request = pgconn.cancel_conn()
        return lambda: _send(request)
    legacy = pgconn.get_cancel()  # before libpq 17; blocks, so the thread may stay for a while
    return lambda: _send_blocking(legacy)


def _send(request: psycopg.pq.abc.PGcancelConn) -> None:
    until = time.monotonic() + CANCEL_DEADLINE
    with suppress(psycopg.Error, OSError):
        request.start()
        while (state := request.poll()) not in _OVER and time.monotonic() < until:
            poll = select.poll()
            is_reading = state == PollingStatus.READING
            poll.register(request.socket, select.POLLIN if is_reading else select.POLLOUT)
            poll.poll(max(0.0, until - time.monotonic()) * 1000)
        request.finish()


def _send_blocking(request: psycopg.pq.abc.PGcancel) -> None:
    with suppress(psycopg.Error):
        request.cancel()


def _cut(connection: psycopg.Connection[Any]) -> None:
    """Shut the socket down through a duplicate, so that its owner still closes it itself."""
    try:
        descriptor = socket.dup(connection.fileno())
        with socket.socket(fileno=descriptor) as doomed:
            if not connection.closed:  # else its number may have been another file's by then
                doomed.shutdown(socket.SHUT_RDWR)
    except psycopg.Error:  # it is closed already
        return
    except OSError as problem:
        if problem.errno in _EXHAUSTED:
            raise  # else it is cut or closed already
