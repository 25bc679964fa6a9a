"""What becomes of the background processes of a session that ends?"""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import assert_never

from sexton.core.endings import EndKind
from sexton.core.record import record
from sexton.core.setting import setting


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

    on_idle_reset: Handling = setting(
        default=Handling.WARN,
        about="What happens to the background processes of a session that an idle reset has "
        "ended: `warn` notifies people, `stop` ends the processes, `keep` does neither. Sexton "
        "only warns by default, because a signal cannot be taken back.",
        change="Choose `stop` where forgotten servers fill your machines.",
    )
    on_daily_reset: Handling = setting(
        default=Handling.WARN,
        about="The same after a daily reset. With `stop`, people are notified beforehand.",
        change="Choose `stop` where nothing is supposed to run over night.",
    )
    on_end: Handling = setting(
        default=Handling.WARN,
        about="The same after every other end: closed, reset by a person, ended at a limit.",
        change="Choose `stop` where a closed session means that its work is over.",
    )
    on_reap: Handling = setting(
        default=Handling.WARN,
        about="The same for sessions whose own process died. Sexton only warns by default, "
        "because what the process left running may be all that remains of its work.",
        change="Choose `stop` for agents that can repeat their work.",
    )
    window: timedelta = setting(
        default=timedelta(seconds=60),
        about="The span over which Sexton judges whether a process works. A process that used 1 % "
        "of a processor or moved 4 KiB within it, together with all that it started, is working. "
        "One sweep of a keeper by default.",
        change="Raise it for work that pauses for longer than a minute.",
    )
    ttl: timedelta | None = setting(
        default=None,
        null="no limit",
        about="How long a working process may block resets, counted from its start. Without it, a "
        "process blocks for the session's own idle time, or for a day where it has none, counted "
        "from when the reset is due.",
        change="Set it where jobs are known to be stuck after some hours.",
    )
    grace: timedelta = setting(
        default=timedelta(seconds=10),
        about="The time between asking a process to end and killing it. Ten seconds suffice to "
        "save a file.",
        change="Raise it for databases and other programs that take long to shut down.",
    )
    notice: timedelta = setting(
        default=timedelta(minutes=30),
        about="How long before a daily reset stops a process people are notified of it, and how "
        "they can keep it. Half an hour is enough to read a message.",
        change="Raise it where people read their messages only now and then.",
    )

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
