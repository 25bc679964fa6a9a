"""How a call to a server that has stopped answering is given up, on both ends.

Neither a statement timeout nor a TCP timeout ends a call to a frozen server. So the socket of a
late call is cut, and its caller gets an error at once. The server may still work for that call, or
wait for a row. A thread that nobody waits for asks it to stop, over another connection.
"""

from __future__ import annotations

import errno
import select
import socket
import threading
import time
from contextlib import suppress
from typing import Any

import psycopg
from psycopg.pq import PollingStatus

DEADLINE = 15.0
CANCEL_DEADLINE = 5.0  # seconds; a frozen server does not take a cancel request either
_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS)
_OVER = (PollingStatus.OK, PollingStatus.FAILED)


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
