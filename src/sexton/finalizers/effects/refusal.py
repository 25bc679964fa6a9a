"""What does it mean for the work if a server says no?"""

from __future__ import annotations

import errno
from collections.abc import Set
from datetime import datetime, timedelta
from http import HTTPStatus

from sexton.finalizers.effects.http_post import Answer, HttpFailed, retry_after
from sexton.finalizers.job import EffectFailed

SHORTAGES = frozenset({errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM})
PAUSE = timedelta(minutes=1)
OUTAGES = frozenset({429, 502, 503, 504})
"""What a server says to everybody."""


def shortage(problem: OSError | None) -> timedelta | None:
    """When to try again if this machine lacks what it will have again, which is nobody's fault."""
    return PAUSE if problem is not None and problem.errno in SHORTAGES else None


def unanswered(who: str, problem: HttpFailed) -> EffectFailed:
    """The failure to be raised if no answer came at all."""
    after = shortage(problem.problem)
    return EffectFailed(f"{who} failed: {problem}", after=after, outage=True)


def check(answer: Answer, who: str, hopeless: Set[int], now: datetime) -> None:
    """Raise EffectFailed unless the server accepted; nothing of its words, which may quote ours."""
    status = answer.status
    if 200 <= status < 300:
        return
    problem = f"{who} answered {status}{_phrase(status)}"
    if 300 <= status < 400:
        raise EffectFailed(f"{problem}; redirects are not followed")
    after = retry_after(answer, now) if status in (429, 503) else None
    raise EffectFailed(problem, after=after, hopeless=status in hopeless, outage=status in OUTAGES)


def _phrase(status: int) -> str:
    try:
        return f" {HTTPStatus(status).phrase}"
    except ValueError:
        return ""
