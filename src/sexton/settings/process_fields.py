"""Which settings are there about the background processes of sessions?"""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Final

from pydantic import Field

from sexton.processes.handling import Handling, ProcessPolicy
from sexton.settings import vocabulary
from sexton.settings.fields import Duration, Strict
from sexton.settings.kinds import Kind, Refused, only
from sexton.settings.settings_problems import did_you_mean

_USUAL: Final = ProcessPolicy()


def _handling(value: object) -> Handling:
    text = only(str, value)
    if text not in set(Handling):
        near = did_you_mean(text.lower(), map(str, Handling))
        raise Refused(f"did you mean '{near}'?" if near else "")
    return Handling(text)


HANDLING = Kind(
    words="one of warn, stop, keep",
    read=_handling,
    schema={"type": "string", "enum": [str(each) for each in Handling]},
    show=str,
)


class ProcessFields(Strict):
    """What the background processes of sessions may hold back, and what becomes of them."""

    on_idle_reset: Annotated[Handling, HANDLING] = Field(
        default=_USUAL.on_idle_reset,
        description="What becomes of processes whose session an idle reset has ended. A signal can "
        "not be taken back, so people are told until somebody decides otherwise.",
    )
    on_daily_reset: Annotated[Handling, HANDLING] = Field(
        default=_USUAL.on_daily_reset,
        description="The same for a daily reset; with stop, people hear of it before.",
    )
    on_end: Annotated[Handling, HANDLING] = Field(
        default=_USUAL.on_end,
        description="The same for every other end: closed, reset by a person, at a limit.",
    )
    on_reap: Annotated[Handling, HANDLING] = Field(
        default=_USUAL.on_reap,
        description="The same for sessions whose own process died. What it left behind may be all "
        "that there is of its work.",
    )
    window: Duration = Field(
        default=_USUAL.window,
        description="A process that used 1 % of a processor or moved 4 KiB within so long, with "
        "all that it started, is working. One sweep of a keeper.",
    )
    ttl: Annotated[timedelta | None, vocabulary.DURATION.or_null()] = Field(
        default=_USUAL.ttl,
        description="For how long from its start a working process may hold resets back. Without "
        "one it is the session's own idle time, else a day, from when the reset is due.",
    )
    grace: Duration = Field(
        default=_USUAL.grace,
        description="What lies between asking a process to end and killing it: time to save.",
    )
    notice: Duration = Field(
        default=_USUAL.notice,
        description="How long before a daily reset stops a process people hear what and how to "
        "keep it: time to read a message.",
    )
