"""How many sessions leaked, day by day?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from sexton.model.session import Session
from sexton.ports import Filter, Ledger, Place, Sample

CHUNK = 500
REAPED = "reaped:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The sessions that were started on a day: how many are open still, how many were reaped."""

    day: date
    sessions: int = 0
    open: int = 0
    reaped: int = 0

    @property
    def share(self) -> float | None:
        """The part that did not end by itself: open still, or only because it was reaped."""
        return (self.open + self.reaped) / self.sessions if self.sessions else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What the sweeps of a day counted, all counts added up."""

    day: date
    samples: int = 0
    open: int = 0
    leaked: int = 0

    @property
    def share(self) -> float | None:
        """The part of the open sessions that was leaked; nothing open is nothing leaked."""
        if not self.samples:
            return None
        return self.leaked / self.open if self.open else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaks:
    """Every day of the time asked for, and the last count of each home."""

    before: tuple[Started, ...]
    after: tuple[Counted, ...]
    last: tuple[Sample, ...]


def count_leaks(
    ledger: Ledger,
    home: str | None,
    since: timedelta,
    now: datetime,
    advance: Callable[[int], None],
) -> Leaks:
    """Count day by day, of one home or of all; `advance` is told how many sessions were read."""
    first = (now - since).astimezone(UTC).date()
    start = datetime.combine(first, time(), UTC)
    days = [first + timedelta(days=each) for each in range((now - start).days + 1)]
    started: dict[date, Counter[str]] = {day: Counter() for day in days}
    for page in _pages(ledger, home, start):
        for session in page:
            _add(started, session)
        advance(len(page))
    samples = [
        sample
        for sample in ledger.samples.since(start)
        if home in (None, sample.home) and sample.at <= now
    ]
    counted: dict[date, Counter[str]] = {day: Counter() for day in days}
    for sample in samples:
        counted[_day(sample.at)].update(samples=1, open=sample.open, leaked=sample.leaked)
    return Leaks(
        before=tuple(Started(day=day, **counts) for day, counts in started.items()),
        after=tuple(Counted(day=day, **counts) for day, counts in counted.items()),
        last=tuple({sample.home: sample for sample in samples}.values()),
    )


def _pages(ledger: Ledger, home: str | None, start: datetime) -> Iterator[list[Session]]:
    """Whatever was started since was active since: older activity need not be read."""
    place: Place | None = None
    while page := ledger.index.page(Filter(home=home), place, CHUNK):
        yield page
        if page[-1].active_at < start:
            return
        place = Place(page[-1].active_at, page[-1].ref)


def _add(days: dict[date, Counter[str]], session: Session) -> None:
    counts = days.get(_day(session.started_at))
    if counts is not None:
        was_reaped = (session.end_reason or "").startswith(REAPED)
        counts.update(sessions=1, open=int(session.is_open), reaped=int(was_reaped))


def _day(moment: datetime) -> date:
    return moment.astimezone(UTC).date()
