"""How many sessions leaked, day by day?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from sexton.homes.home_ports import HomeRecord, Started
from sexton.liveness.model import Sample
from sexton.liveness.shadow import Shadow, shadow_of
from sexton.store.ledger import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What the sweeps of a day counted, all counts added up."""

    day: date
    samples: int = 0
    open: int = 0
    leaked: int = 0
    unproven: int = 0

    @property
    def share(self) -> float | None:
        """The part of the open sessions that was leaked; nothing open is nothing leaked."""
        return self._part(self.leaked)

    @property
    def unproven_share(self) -> float | None:
        """The part of the open sessions of which nothing is known."""
        return self._part(self.unproven)

    def _part(self, sessions: int) -> float | None:
        if not self.samples:
            return None
        return sessions / self.open if self.open else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaks:
    """Every day of the time asked for, the last count of each home, and what was only recorded."""

    before: tuple[Started, ...]
    after: tuple[Counted, ...]
    last: tuple[Sample, ...]
    shadows: tuple[Shadow, ...]


def count_leaks(
    ledger: Ledger, homes: Sequence[HomeRecord], since: timedelta, now: datetime
) -> Leaks:
    """Count day by day over some homes."""
    first = (now - since).astimezone(UTC).date()
    start = datetime.combine(first, time(), UTC)
    days = [first + timedelta(days=each) for each in range((now - start).days + 1)]
    names = {home.name for home in homes}
    samples = [
        sample
        for sample in ledger.samples.since(start)
        if sample.home in names and sample.at <= now
    ]
    return Leaks(
        before=tuple(_started(ledger, homes, days)),
        after=tuple(_counted(samples, days)),
        last=tuple({sample.home: sample for sample in samples}.values()),
        shadows=tuple(each for home in homes if (each := shadow_of(ledger, home))),
    )


def _started(
    ledger: Ledger, homes: Sequence[HomeRecord], days: Sequence[date]
) -> Iterator[Started]:
    start = datetime.combine(days[0], time(), UTC)
    found: dict[date, Counter[str]] = defaultdict(Counter)
    for home in homes:
        for each in ledger.homes.census.started(home, start):
            found[each.day].update(sessions=each.sessions, open=each.open, reaped=each.reaped)
    return (Started(day=day, **found[day]) for day in days)


def _counted(samples: Sequence[Sample], days: Sequence[date]) -> Iterator[Counted]:
    found: dict[date, Counter[str]] = defaultdict(Counter)
    for each in samples:
        day = each.at.astimezone(UTC).date()
        found[day].update(samples=1, open=each.open, leaked=each.leaked, unproven=each.unproven)
    return (Counted(day=day, **found[day]) for day in days)
