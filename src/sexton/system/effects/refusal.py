"""What does it mean for the work if a server says no?"""

from __future__ import annotations

from collections.abc import Set
from datetime import datetime
from http import HTTPStatus

from sexton.ports.finalizing import EffectFailed
from sexton.system.http import Answer, retry_after

OUTAGES = frozenset({429, 502, 503, 504})
"""What a server says to everybody."""


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
