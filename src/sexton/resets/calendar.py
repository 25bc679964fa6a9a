"""When do the clocks of a place show an hour?"""

from __future__ import annotations

from bisect import bisect_left
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache


def reached(day: date, hour: int, zone: tzinfo) -> datetime:
    """The first moment at which the clocks of a zone show that hour of the day, or are past it."""
    wanted = datetime(day.year, day.month, day.day, hour, tzinfo=zone)
    moment, other = wanted.astimezone(UTC), wanted.replace(fold=1).astimezone(UTC)
    if moment <= other:  # the clocks show it, once or twice
        return moment
    # They skip it, somewhere between the two. Times of one zone compare by what its clocks show.
    seconds = bisect_left(
        range(int((moment - other).total_seconds())),
        True,
        key=lambda passed: (other + timedelta(seconds=passed)).astimezone(zone) >= wanted,
    )
    return other + timedelta(seconds=seconds)


@lru_cache(maxsize=64)
def zone_of(name: str) -> tzinfo:
    """The time zone of that name."""
    from zoneinfo import ZoneInfo  # noqa: PLC0415  # costs an agent without a daily reset nothing

    return ZoneInfo(name)
