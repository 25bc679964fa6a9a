"""What time is it? The only module of the core that asks."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import partial

_BOOTTIME = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class SystemClock:
    """The machine's clocks."""

    # Asked before every write, so there is nothing of ours in between.
    now = staticmethod(partial(datetime.now, UTC))
    monotonic = staticmethod(time.monotonic)
    elapsed = staticmethod(partial(time.clock_gettime, _BOOTTIME))
    sleep = staticmethod(time.sleep)
