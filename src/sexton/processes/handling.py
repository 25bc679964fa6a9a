"""What becomes of the background processes of a session that ends?"""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import assert_never

from sexton.core.endings import EndKind
from sexton.core.record import record


class Handling(StrEnum):
    """What becomes of the processes of a session that ends."""

    WARN = "warn"
    STOP = "stop"
    KEEP = "keep"


class Occasion(StrEnum):
    """How a session ended, as far as its processes are concerned."""

    IDLE = "on_idle_reset"
    DAILY = "on_daily_reset"
    END = "on_end"
    REAP = "on_reap"


@record
class ProcessPolicy:
    """How processes are judged, for how long they may hold a reset, and what becomes of them."""

    on_idle_reset: Handling = Handling.WARN
    on_daily_reset: Handling = Handling.WARN
    on_end: Handling = Handling.WARN
    on_reap: Handling = Handling.WARN
    window: timedelta = timedelta(seconds=60)
    ttl: timedelta | None = None
    grace: timedelta = timedelta(seconds=10)
    notice: timedelta = timedelta(minutes=30)

    def handling(self, occasion: Occasion) -> Handling:
        """What to do with the processes of a session that ended like that."""
        found: Handling = getattr(self, occasion)
        return found


def occasion_of(kind: EndKind) -> Occasion | None:
    """Which of the policies an end falls under; None where the conversation goes on."""
    match kind:
        case EndKind.REAP:
            return Occasion.REAP
        case EndKind.IDLE_RESET:
            return Occasion.IDLE
        case EndKind.DAILY_RESET:
            return Occasion.DAILY
        case EndKind.SIZE_RESET | EndKind.RESET | EndKind.BUDGET | EndKind.BREAKER:
            return Occasion.END
        case EndKind.USER | EndKind.CLOSED:
            return Occasion.END
        case EndKind.COMPRESSION | EndKind.BRANCH:
            return None
        case never:
            assert_never(never)
