"""A listening socket that turns visitors away before the process runs out of descriptors.

The ledger, the keeper and the heartbeat run in the same process and need files of their own.
Without this, asyncio would log a traceback for each visitor it has no descriptor for.
"""

from __future__ import annotations

import errno
import logging
import os
import resource
import socket
from typing import Any

from sexton.core.clock import SystemClock

RESERVE = 64
"""Descriptors that visitors never get, or a quarter of all if that is more."""
QUIET_SECONDS = 60.0
"""Seconds between two log lines about visitors that were turned away."""
_OUT_OF_FILES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)

log = logging.getLogger("sexton.web")


def highest_for_visitors() -> int:
    """The first descriptor that no visitor gets, by the limit that is in force now."""
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most == resource.RLIM_INFINITY:
        return 2**31
    return most - min(max(RESERVE, most // 4), most // 2)


class Door(socket.socket):
    """Accepts visitors while descriptors are free, and closes the connection of all others.

    The kernel gives out the lowest free number, so the number of a new descriptor tells how many
    are in use.
    """

    def __init__(self, family: int, kind: int, protocol: int) -> None:
        super().__init__(family, kind, protocol)
        self._clock = SystemClock()
        self._noted = float("-inf")
        self._spare: int | None = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def accept(self) -> tuple[socket.socket, Any]:
        """The next visitor; ConnectionAbortedError for one that was turned away."""
        try:
            visitor, address = super().accept()
        except OSError as problem:
            if problem.errno not in _OUT_OF_FILES:
                raise
            self._turn_away_without_a_file()
        else:
            if visitor.fileno() < highest_for_visitors():
                return visitor, address
            visitor.close()
        self._note()
        # To asyncio this means: nobody is there any more, ask again when somebody comes.
        raise ConnectionAbortedError(errno.ECONNABORTED, "turned away")

    def close(self) -> None:
        """Stop listening."""
        super().close()
        if self._spare is not None:
            os.close(self._spare)
            self._spare = None

    def _turn_away_without_a_file(self) -> None:
        """Take the visitor out of the queue by a descriptor that is kept for this."""
        if self._spare is not None:
            os.close(self._spare)
            self._spare = None
        try:
            super().accept()[0].close()
            self._spare = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:  # another thread was faster; the visitor waits
            return

    def _note(self) -> None:
        now = self._clock.monotonic()
        if now - self._noted >= QUIET_SECONDS:
            log.warning(
                "visitors are turned away: %d descriptors are the most for them",
                highest_for_visitors(),
            )
        self._noted = now
