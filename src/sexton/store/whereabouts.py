"""Are the ledger's file and its log still where others find them?

Asked after every commit, so in as few calls as possible: as long as nothing has come into their
directory, gone from it or been renamed in it, they are. And a log must not be asked for its times:
some systems then note the time of every write to it, which takes longer than all the rest.
"""

from __future__ import annotations

import os
import time

SETTLED = 2.5  # seconds; times of directories are no coarser than two on any file system

Identity = tuple[int, ...]


class Whereabouts:
    """Which files were at the path and beside it when they were opened."""

    def __init__(self, path: str) -> None:
        real = os.path.realpath(path)  # the log is beside the file, not beside a link to it
        self._path = path
        self._log = f"{real}-wal"
        self._directory = os.path.dirname(real)
        self._is_link = real != path
        self._file = identity(path)
        self._log_file = identity(self._log)
        self._stamp: Identity | None = None
        self._since = 0.0
        self._is_settled = False

    @property
    def has_file(self) -> bool:
        """Whether the file is at its path; the log may be another one."""
        return self._file is not None and identity(self._path) == self._file

    def are_known(self) -> bool:
        """Whether both are where they were."""
        stamp = _stamp(self._directory)
        if stamp != self._stamp:
            is_log = identity(self._log) == self._log_file
            self._stamp, self._since, self._is_settled = stamp, time.monotonic(), False
            return is_log and self.has_file
        if self._is_settled:
            return not self._is_link or self.has_file
        # Another change at the same tick of that clock would not show.
        self._is_settled = time.monotonic() - self._since > SETTLED
        return self.has_file and os.access(self._log, os.F_OK) == (self._log_file is not None)


def identity(path: str) -> Identity | None:
    """Which file is at the path, by inode and device; None if there is none."""
    try:
        return os.stat(path)[1:3]
    except OSError:
        return None


def _stamp(directory: str) -> Identity | None:
    try:
        found = os.stat(directory)
    except OSError:
        return None
    # Not the time of its content, which a backup that is put back sets back as well.
    return found.st_ino, found.st_dev, found.st_ctime_ns
