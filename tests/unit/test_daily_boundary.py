"""When does a day end, whatever the clocks of a zone skip or repeat?"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sexton.resets.policy import Mode, ResetPolicy, next_boundary
from tests.contract.examples import examples

DAY = timedelta(days=1)
ZONES = sorted(available_timezones())


def at(zone: str, text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


def boundaries(zone: str, hour: int, after: datetime, count: int) -> list[datetime]:
    """So many boundaries, each asked for from the one before it."""
    policy = ResetPolicy(mode=Mode.DAILY, at_hour=hour, timezone=zone)
    found = [next_boundary(after, policy)]
    while len(found) < count:
        found.append(next_boundary(found[-1], policy))
    return found


def walked(zone: ZoneInfo, hour: int, day: date) -> list[datetime]:
    """The boundaries of the days around one, by a look at the clock in every minute."""
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    minutes = [noon - 3 * DAY + timedelta(minutes=passed) for passed in range(6 * 24 * 60)]
    shown = [minute.astimezone(zone).replace(tzinfo=None) for minute in minutes]
    whole = sorted({each.date() for each in shown})[1:-1]
    wanted = [datetime(day.year, day.month, day.day, hour) for day in whole]  # noqa: DTZ001  # what a clock shows
    return [
        next(at for at, clock in zip(minutes, shown, strict=True) if clock >= each)
        for each in wanted
    ]


@cache
def changes(name: str, year: int) -> list[date]:
    """The days of a year on which the clocks of a zone are changed, or its first one."""
    zone = ZoneInfo(name)
    noons = [datetime(year, 1, 1, 12, tzinfo=UTC) + count * DAY for count in range(365)]
    offsets = [noon.astimezone(zone).utcoffset() for noon in noons]
    found = [
        noon.date()
        for noon, offset, before in zip(noons[1:], offsets[1:], offsets, strict=False)
        if offset != before
    ]
    return found or [date(year, 1, 1)]


@examples(25)
@given(st.sampled_from(ZONES), st.integers(1975, 2037), st.integers(0, 23))
@example("Antarctica/Troll", 2026, 2)
@example("Australia/Lord_Howe", 2026, 2)
@example("America/St_Johns", 2006, 0)
@example("America/Nuuk", 2026, 23)
@example("Pacific/Apia", 2011, 4)
def test_every_day_that_exists_has_one_boundary_after_the_one_before(
    name: str, year: int, hour: int
) -> None:
    for day in changes(name, year):
        expected = walked(ZoneInfo(name), hour, day)
        assert expected == sorted(set(expected))
        before = expected[0] - timedelta(microseconds=1)
        assert boundaries(name, hour, before, len(expected)) == expected


@pytest.mark.parametrize(
    ("zone", "hour", "before", "after_the_gap"),
    [
        ("Antarctica/Troll", 2, "2026-03-28T12:00", "2026-03-29T03:00"),
        ("Australia/Lord_Howe", 2, "2026-10-03T12:00", "2026-10-04T02:30"),
        ("America/Nuuk", 23, "2026-03-28T12:00", "2026-03-29T00:00"),
    ],
)
def test_an_hour_in_a_gap_of_any_length_counts_as_the_end_of_the_gap(
    zone: str, hour: int, before: str, after_the_gap: str
) -> None:
    first, second = boundaries(zone, hour, at(zone, before), 2)
    assert first == at(zone, after_the_gap)
    assert DAY - timedelta(hours=2) <= second - first <= DAY
    assert second.astimezone(ZoneInfo(zone)).hour == hour


def test_a_day_that_the_calendar_skips_has_no_boundary() -> None:
    for hour in (0, 4, 23):
        found = boundaries("Pacific/Apia", hour, at("Pacific/Apia", "2011-12-28T23:30"), 2)
        shown = [each.astimezone(ZoneInfo("Pacific/Apia")) for each in found]
        assert [(each.day, each.hour) for each in shown] == [(29, hour), (31, hour)]
