"""Where does the log of a ledger's file grow into?

While a log becomes longer, each commit has to make its new length durable beside what it says, and
takes three quarters longer than one that writes into room the log already has. A log begins anew
with every start of an agent. So one that is seen to grow is given room for many commits at once.
"""

from __future__ import annotations

import os
from contextlib import suppress

STEP = 2 * 1024 * 1024
SPARE = 32 * STEP  # of the disk: on a fuller one a log takes what it needs and nothing beyond


class LogRoom:
    """The length of one log, as it was when it was last looked at."""

    def __init__(self, path: str, enough: int) -> None:
        self.path = f"{os.path.realpath(path)}-wal"  # beside the file, not beside a link to it
        self._enough = enough
        self._length = self._look()

    def tend(self) -> None:
        """Give the log room if it has grown since; called now and then by whoever writes to it."""
        if self._length >= self._enough:
            return
        length = self._look()
        if self._length < length < self._enough:
            with suppress(OSError):
                self._extend()
                length = self._look()
        self._length = length

    def _look(self) -> int:
        try:
            return os.stat(self.path).st_size
        except OSError:
            return 0

    def _extend(self) -> None:
        """Put zeros after all that was written so far, by whomever; no reader takes them for pages.

        They never come to lie on one: an append goes to the end as it is at that moment, and
        whoever writes a page there later writes over them. No process has a lock on this file, so
        closing it lets none go. The commit that follows makes the new length durable.
        """
        disk = os.statvfs(self.path)
        if disk.f_bavail * disk.f_frsize < SPARE:
            return
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.write(file, bytes(STEP))
        finally:
            os.close(file)
