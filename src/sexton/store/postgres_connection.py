"""A connection to a server that only the process which made it ever uses.

A signal handler may fork in the middle of a call. Two processes cannot share a connection, so the
child gets a dead socket in place of each one that it inherited. Its call then breaks like one to a
server that restarted, and the call of its parent goes on.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from typing import Any
from weakref import WeakSet

import psycopg

from sexton.store.rows import Row


class PooledConnection(psycopg.Connection[Row]):
    """Closes when it is collected, without a warning: an exception may have left it behind."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        _connections.add(self)

    def __del__(self, _: object = None, /) -> None:  # libpq's own part closes itself
        return


_connections: WeakSet[PooledConnection] = WeakSet()


def _in_child() -> None:
    """Let go of every inherited connection without a word to the server."""
    inherited = [each for each in list(_connections) if not each.closed]
    if inherited:
        with suppress(OSError):  # no descriptor: the pool still leaves them as they are
            dead, other_end = socket.socketpair()
            other_end.close()
            with dead:
                for connection in inherited:
                    os.dup2(dead.fileno(), connection.fileno(), inheritable=False)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
