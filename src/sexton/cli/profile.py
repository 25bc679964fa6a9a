"""How old are the open sessions of a home, and which of its sessions are the biggest?"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from sexton.cli.terminal import progress
from sexton.model.session import Session, State
from sexton.ports import Filter, Place, SessionIndex

CHUNK = 500
MOST = 20_000
"""So many sessions, those active last, are looked at for a profile."""
BIGGEST = 5

AGES = (timedelta(hours=1), timedelta(days=1), timedelta(days=7), timedelta(days=30))
AGE_NAMES = ("1h", "24h", "7d", "30d")


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A home's open sessions by age, and its biggest sessions.

    `ages` counts those younger than each of AGES but not than the one before, then the older
    ones. Of a home with more than `MOST` sessions those that were silent for longest are left out.
    """

    ages: tuple[int, ...] = (0,) * (len(AGES) + 1)
    biggest: tuple[Session, ...] = ()


def profile(index: SessionIndex, home: str, now: datetime) -> Profile:
    """Look at the open sessions of a home, and at all of them, at most `MOST` each time."""
    ages = [0] * (len(AGES) + 1)
    with progress(f"measuring the sessions of {home}") as advance:
        for session in _sessions(index, Filter(home=home, state=State.OPEN)):
            ages[sum(now - session.started_at >= age for age in AGES)] += 1
            advance(1)
        return Profile(
            ages=tuple(ages),
            biggest=tuple(heapq.nlargest(BIGGEST, _sessions(index, Filter(home=home)), key=_size)),
        )


def _size(session: Session) -> tuple[int, int]:
    return session.byte_count, session.message_count


def _sessions(index: SessionIndex, wanted: Filter) -> Iterator[Session]:
    place: Place | None = None
    for _ in range(MOST // CHUNK):
        page = index.page(wanted, place, CHUNK)
        yield from page
        if len(page) < CHUNK:
            return
        place = Place(page[-1].active_at, page[-1].ref)
