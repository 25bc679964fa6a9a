"""What ends a call to a server that has stopped answering?

Neither a statement timeout nor a TCP timeout ends a call to a frozen server. One watching
thread cuts the socket of a call that is late; the waiting caller then gets an error.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg

DEADLINE = 15.0
_LOOK_EVERY = 0.25


class Watchdog:
    """Calls under way, and the thread that cuts the late ones."""

    def __init__(self, deadline: float = DEADLINE) -> None:
        self._deadline = deadline
        self._lock = threading.Condition()
        self._calls: dict[int, tuple[float, int]] = {}
        self._next = 0
        self._thread: threading.Thread | None = None
        self._stopped = False

    @contextmanager
    def guard(self, connection: psycopg.Connection[Any]) -> Iterator[None]:
        """Cut the connection if the block takes longer than the deadline."""
        call = self._enter(connection.fileno())
        try:
            yield
        finally:
            with self._lock:
                self._calls.pop(call, None)

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            self._lock.notify()

    def _enter(self, descriptor: int) -> int:
        with self._lock:
            self._next += 1
            self._calls[self._next] = (time.monotonic() + self._deadline, descriptor)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._watch, name="sexton-deadline", daemon=True
                )
                self._thread.start()
            elif len(self._calls) == 1:
                self._lock.notify()
            return self._next

    def _watch(self) -> None:
        with self._lock:
            while not self._stopped:
                self._lock.wait(_LOOK_EVERY if self._calls else None)
                now = time.monotonic()
                for call, (until, descriptor) in list(self._calls.items()):
                    if now > until:
                        del self._calls[call]
                        _cut(descriptor)


def _cut(descriptor: int) -> None:
    """Shut the socket down through a duplicate, so that its owner still closes it itself."""
    with suppress(OSError), socket.socket(fileno=socket.dup(descriptor)) as doomed:
        doomed.shutdown(socket.SHUT_RDWR)
