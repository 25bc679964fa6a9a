"""What time is it? The only module of the core that asks."""

from __future__ import annotations

import time
from datetime import UTC, datetime

_BOOTTIME = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class SystemClock:
    """The machine's clocks."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def elapsed(self) -> float:
        return time.clock_gettime(_BOOTTIME)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)
