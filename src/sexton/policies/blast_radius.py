"""How much may be removed without a person's word?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from sexton.model.record import record

LEAST = 500
SHARE = 0.2
FRESH = timedelta(days=1)

T = TypeVar("T")


@record
class Allowance:
    """What may go now, and how much waits for a person or for tomorrow."""

    allowed: int
    waiting: int
    limit: int


def bounded(
    due: Sequence[tuple[T, datetime]], removed_today: int, now: datetime
) -> tuple[list[T], Allowance]:
    """What of the due, each since a moment, may be removed unattended now.

    What became due within a day is free. Of the backlog, one day takes the larger of 500 and a
    fifth of it, as it was before anything of it was removed today; the longest due go first.
    """
    fresh = [each for each, since in due if now - since < FRESH]
    backlog = sorted((item for item in due if now - item[1] >= FRESH), key=lambda item: item[1])
    limit = max(LEAST, int(SHARE * (len(backlog) + removed_today)))
    room = max(limit - removed_today, 0)
    taken = [each for each, _ in backlog[:room]]
    allowance = Allowance(
        allowed=len(fresh) + len(taken), waiting=len(backlog) - len(taken), limit=limit
    )
    return fresh + taken, allowance
