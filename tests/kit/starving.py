"""What becomes of a process that gets no more memory?"""

from __future__ import annotations

import os
import resource
from pathlib import Path

STARVED = 71
"""The exit code of a child that came to an end for want of memory."""

LEFT = 4_000_000


class Starvation:
    """Takes all memory the process may still have, for good; raises MemoryError when it is gone."""

    def __init__(self) -> None:
        self.done = False
        self._hoard: list[bytearray] = []

    def __call__(self) -> None:
        self.done = True
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        limit = pages * os.sysconf("SC_PAGE_SIZE") + LEFT
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
        for size in (1 << 20, 1 << 16):
            try:
                while True:
                    self._hoard.append(bytearray(size))
            except MemoryError:
                continue
        raise MemoryError("the process has reached its limit")


starve = Starvation()
