"""Pictures are well-formed, bounded, and told in words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexton.web.drawing.daily import Series, daily
from sexton.web.drawing.shares import Part, gauge, shares
from sexton.web.drawing.sparkline import MOST, sparkline, thinned
from sexton.web.drawing.strip import Life, Mark, strip
from tests.golden import golden

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


def drawn(picture: str) -> ElementTree.Element:
    """A picture, read as a browser that takes nothing amiss; no style of its own is in it."""
    root = ElementTree.fromstring(picture)
    assert root.tag == "svg"
    assert root.get("role") == "img"
    for each in root.iter():
        assert "style" not in each.attrib
    return root


def told(picture: str) -> str:
    return drawn(picture).findtext("title") or ""


@given(st.lists(st.floats(0, 1e12), max_size=400))
def test_a_sparkline_stays_within_its_frame_whatever_the_numbers(values: list[float]) -> None:
    root = drawn(sparkline("live", values, "today"))
    for each in root.findall("circle"):
        assert 0 <= float(each.get("cx", "")) <= 86
        assert 0 <= float(each.get("cy", "")) <= 34


def test_a_sparkline_is_told_as_where_it_began_its_peak_and_where_it_is() -> None:
    drawings = [sparkline("live", values, "today") for values in ([3, 9, 4], [3])]
    golden("drawings", "a sparkline, also of nothing", "\n".join(map(told, drawings)))


def test_of_many_points_no_peak_is_lost_and_the_last_is_the_last() -> None:
    values = [0.0] * 5000
    values[2500], values[-1] = 7.0, 2.0
    kept = thinned(values)
    assert len(kept) <= MOST + 1
    assert max(kept) == 7.0
    assert kept[-1] == 2.0


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=6))
def test_the_parts_of_a_bar_fill_it_and_none_that_is_there_is_too_small(counts: list[int]) -> None:
    parts = [Part(f"part {place}", "live", count) for place, count in enumerate(counts)]
    bars = [each for each in drawn(shares("all", parts)) if each.get("class") == "tone-live"]
    assert len(bars) == sum(count > 0 for count in counts)
    for each in bars:
        assert float(each.get("width", "")) >= 4
    if bars:
        last = bars[-1]
        end = float(last.get("x", "")) + float(last.get("width", ""))
        assert end == pytest.approx(1000, abs=0.5)


def test_a_gauge_is_full_beyond_its_limit_and_warns_before() -> None:
    tones = [drawn(gauge("x", used, 10, 0.8))[2].get("class") for used in (1, 8, 10, 99)]
    assert tones == ["fill tone-accent", "fill tone-suspect", "fill tone-dead", "fill tone-dead"]
    assert float(drawn(gauge("x", 99, 10))[2].get("width", "")) == 1000
    assert float(drawn(gauge("x", 1, 0))[2].get("width", "")) == 1000


def series(values: Sequence[float | None]) -> Series:
    return Series(name="leaked", tone="leaked", shares=values)


def test_days_without_a_count_are_gaps_in_the_line() -> None:
    days = [date(2026, 11, 1) + timedelta(days=each) for each in range(5)]
    picture = daily("Leaks", days, [series([0.5, 0.25, None, 0.1, None])])
    lines = [each for each in drawn(picture).iter("path") if each.get("class") == "line"]
    assert len(lines) == 2
    golden("drawings", "days with gaps", told(picture))
    empty = drawn(daily("Leaks", days, [series([None] * 5)]))
    golden("drawings", "days without a count", "\n".join(empty.itertext()))


@given(st.integers(0, 10**8), st.integers(0, 10**8), st.one_of(st.none(), st.integers(0, 10**8)))
def test_a_life_is_drawn_within_its_frame_whatever_clocks_say(
    active: int, until: int, due: int | None
) -> None:
    def at(seconds: int) -> datetime:
        return NOON + timedelta(seconds=seconds)

    life = Life(NOON, at(active), at(until), "live", [Mark(NOON, "began"), Mark(at(until), "now")])
    root = drawn(strip("a life", life, None if due is None else at(due)))
    for each in root.findall("rect"):
        assert float(each.get("x", "0")) >= 0
        assert float(each.get("x", "0")) + float(each.get("width", "")) <= 760.1
    for each in root.findall("line"):
        assert 0 <= float(each.get("x1", "")) <= 760


def test_no_name_can_break_out_of_a_picture() -> None:
    evil = '</title><script>alert(1)</script>"'
    picture = shares(evil, [Part(evil, "live", 1)])
    assert "<script" not in picture
    assert told(picture).startswith(evil)
