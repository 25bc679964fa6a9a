"""Where files are kept in memory: tests are about what is written, not about how long a disk takes.

A file that somebody synced is there after a kill wherever it is, and no test cuts the power.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

ROOM = 2**32
"""Bytes: several times as much as the largest tests need together."""


def memory() -> Path | None:
    """A directory in memory with enough room, from which programs may be started."""
    place = Path("/dev/shm")
    if not os.access(place, os.W_OK) or shutil.disk_usage(place).free < ROOM:
        return None
    return None if os.statvfs(place).f_flag & os.ST_NOEXEC else place
