"""What a finalizer's effect gets for a job, and how it says that the job is not done."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Protocol, runtime_checkable

from sexton.core.message import Message
from sexton.core.record import record
from sexton.core.session import Session

SHORTAGES = frozenset({errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM})
PAUSE = timedelta(minutes=1)


class ClaimLost(Exception):
    """Somebody else has taken the work on, or it is owed no more; what it began must stop."""


class EffectFailed(Exception):
    """The work could not be done now; it is tried again.

    The message is for people and logs, so it holds nothing of a transcript; what a program `said`
    may, so that is added for people only. What can not get better by itself is `hopeless` and goes
    to the dead letters at once. In an `outage` other work of the same finalizer would fail as well,
    so all of it rests for a while; if the endpoint says for how long (`after`), that is heeded and
    does not count as a try.
    """

    def __init__(
        self,
        message: str,
        *,
        said: str = "",
        after: timedelta | None = None,
        hopeless: bool = False,
        outage: bool = False,
    ) -> None:
        super().__init__(f"{message}: {said}" if said else message)
        self.for_logs = message
        if not isinstance(after, timedelta | None):
            raise TypeError(f"after is a timedelta, not {type(after).__name__}")
        self.after = after
        self.hopeless = hopeless
        self.outage = outage or after is not None


class EffectPostponed(Exception):
    """Nothing is wrong, but the work has to wait until a moment; it does not count as a try."""

    def __init__(self, message: str, until: datetime) -> None:
        super().__init__(message)
        if not isinstance(until, datetime) or until.tzinfo is None:
            raise TypeError("until is a datetime with a time zone")
        self.until = until


def shortage(problem: OSError | None) -> timedelta | None:
    """When to try again if this machine lacks what it will have again, which is nobody's fault."""
    return PAUSE if problem is not None and problem.errno in SHORTAGES else None


@record
class Job:
    """A finalization as the program that carries it out sees it.

    `messages` are those since the last finalization of the session, in order, read as they are
    needed. `memo` is what an earlier attempt wrote down by `memoise`, which returns only when it
    is durable and raises ClaimLost if the work is not ours any more. `spend` takes that many
    calls from the finalizer's budget for today, or none and says False; where its rate allows no
    further call now, it raises EffectPostponed.
    """

    key: str
    finalizer: str
    session: Session
    since: int
    through: int
    attempt: int
    messages: Callable[[], Iterator[Message]]
    memo: bytes | None
    memoise: Callable[[bytes], None]
    spend: Callable[[int], bool]


class Effect(Protocol):
    """A way of doing end-of-session work."""

    def carry_out(self, job: Job) -> str:
        """Do it, and say in a few words what came of it; or EffectFailed, or EffectPostponed."""


@runtime_checkable
class Stoppable(Protocol):
    """An effect that can be interrupted."""

    def stop(self) -> None:
        """Stop what is running, which then is postponed, and begin nothing any more."""
