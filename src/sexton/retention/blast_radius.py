"""How much may be removed without a person's word?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from sexton.core.plan import ArchiveSession, RemoveFiles, Removing
from sexton.core.record import record

LEAST = 500
SHARE = 0.2
FRESH = timedelta(days=1)

T = TypeVar("T")


@record
class Allowance:
    """How many sessions may go now, and how many wait for a person or for tomorrow."""

    allowed: int
    waiting: int
    limit: int


def loses(action: Removing | RemoveFiles) -> bool:
    """Whether time alone makes an action final: the trash is emptied, an archive is kept.

    An archive whose own age is over goes to the trash as a removal of its own.
    """
    if isinstance(action, RemoveFiles):
        return not action.archived
    return not isinstance(action, ArchiveSession)


def bounded(
    due: Sequence[tuple[T, datetime, int]], removed_today: int, now: datetime
) -> tuple[list[T], Allowance]:
    """What of the due, each since a moment and so many sessions, may be removed unattended now.

    What became due within a day is free. Of the backlog, one day takes the larger of 500 and a
    fifth of it, as it was before anything of it was removed today; the longest due go first.
    """
    fresh = [(each, count) for each, since, count in due if now - since < FRESH]
    backlog = sorted((item for item in due if now - item[1] >= FRESH), key=lambda item: item[1])
    size = sum(count for *_, count in backlog)
    limit = max(LEAST, int(SHARE * (size + removed_today)))
    room = max(limit - removed_today, 0)
    taken = []
    for each, _, count in backlog:
        if count <= room:
            taken.append((each, count))
            room -= count
    waiting = size - sum(count for _, count in taken)
    going = fresh + taken
    allowance = Allowance(allowed=sum(n for _, n in going), waiting=waiting, limit=limit)
    return [each for each, _ in going], allowance
