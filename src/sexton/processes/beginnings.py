"""When did a process start, by the wall clock?"""

from __future__ import annotations

import psutil


def begun_at(pid: int) -> float | None:
    """Its start in seconds since 1970; None if there is no such process, or it may not be seen."""
    try:
        return float(psutil.Process(pid).create_time())
    except (psutil.Error, ValueError, OverflowError):
        return None
