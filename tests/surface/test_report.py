"""`sexton report leaks`: before and after, in words, as JSON and as a picture."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest

from sexton.cli.report.chart import (
    BOTTOM,
    FAINT,
    HEIGHT,
    INK,
    LONGEST,
    TOP,
    WIDTH,
    Series,
    chart,
)
from sexton.cli.terminal import cells
from sexton.core.clock import SystemClock
from sexton.core.session import Session, State
from sexton.homes.home_ports import Sighting
from sexton.liveness.model import Sample
from tests.golden import golden
from tests.surface.program import Cli

pytestmark = pytest.mark.usefixtures("noon")
SVG = "{http://www.w3.org/2000/svg}"
DAY = timedelta(days=1)


def days_ago(days: int) -> datetime:
    """The beginning of the day so many days ago."""
    return SystemClock().now().replace(hour=0, minute=0, second=0, microsecond=0) - days * DAY


def leaky(cli: Cli) -> None:
    """A home with five sessions of three days ago, two of them open and one reaped, and counts."""
    with cli.opened() as opened:
        home = opened.ledger.homes.attach("<leaky> & co", "hermes", "/leaky", "elsewhere", False)
        begun = days_ago(3)
        ends = (None, None, "reaped:process_gone", "cli_close", "cli_close")
        seen = tuple(
            Session(
                ref=0,
                home=home.name,
                id=f"s{place}",
                key=None,
                source="cli",
                state=State.ENDED if end else State.OPEN,
                started_at=begun,
                active_at=begun,
                ended_at=begun if end else None,
                end_reason=end,
            )
            for place, end in enumerate(ends)
        )
        old = Session(
            ref=0, home=home.name, id="old", key=None, source="cli",
            started_at=days_ago(300), active_at=days_ago(1),
        )  # fmt: skip
        opened.ledger.homes.store(home, Sighting(seen=(*seen, old), mark={}), None, begun)
        counts = ((2, 10, 5), (1, 10, 0), (1, 10, 1))
        taken = [
            Sample(
                home=home.name,
                at=days_ago(days) + timedelta(minutes=place),
                open=still_open,
                live=0,
                waiting=0,
                leaked=leaked,
                unproven=still_open - leaked,
            )
            for place, (days, still_open, leaked) in enumerate(counts)
        ]
        opened.ledger.samples.store(taken, opened.clock.now())


def test_days_before_and_after_are_told_to_programs(any_cli: Cli) -> None:
    leaky(any_cli)
    told = any_cli("report", "leaks", "--since", "5d", "--json").json()
    assert set(told) == {"home", "since", "until", "file", "before", "after", "last", "shadow"}
    before, after = told["before"], told["after"]
    assert [each["day"] for each in before["days"]] == [each["day"] for each in after["days"]]
    assert told["since"] == before["days"][0]["day"] == days_ago(5).date().isoformat()
    assert len(before["days"]) == 6
    assert before["days"][2] == {
        "day": days_ago(3).date().isoformat(), "sessions": 5, "open": 2, "reaped": 1, "share": 0.6,
    }  # fmt: skip
    assert before["days"][0]["share"] is None
    assert (before["sessions"], before["share"]) == (5, 0.6)
    assert [each["share"] for each in after["days"]] == [None, None, None, 0.5, 0.05, None]
    assert (after["samples"], after["share"], after["unproven_share"]) == (3, 0.2, 0.8)
    (last,) = told["last"]
    assert {name: last[name] for name in ("home", "open", "leaked", "unproven")} == {
        "home": "<leaky> & co", "open": 10, "leaked": 1, "unproven": 9,
    }  # fmt: skip


def test_a_person_reads_a_summary(cli: Cli) -> None:
    leaky(cli)
    golden("report-leaks", "a home that leaks", cli.ok("report", "leaks"))
    native = cli.ok("report", "leaks", "--home", "native")
    golden("report-leaks", "nothing was counted", native)


def test_both_are_drawn_into_a_file_that_replaces_nothing(cli: Cli, tmp_path: Path) -> None:
    leaky(cli)
    file = tmp_path / "leaks.svg"
    arguments = ("report", "leaks", "--home", "<leaky> & co", "-o", str(file))
    told = cli(*arguments, "--json").json()
    assert told["file"] == str(file)
    drawn = file.read_text()
    root = ET.fromstring(drawn)
    assert (root.findtext(f"{SVG}title") or "").endswith(" <leaky> & co")
    assert len(list(root.iter(f"{SVG}polyline"))) == 3
    told = root.findtext(f"{SVG}desc") or ""
    golden("report-leaks", "the picture in words", told)
    for day in (3, 1):
        assert days_ago(day).date().isoformat() in told
    assert file.stat().st_mode & 0o777 == 0o600
    file.write_text("mine")
    refused = cli(*arguments)
    assert refused.code == 62
    assert "--force" in refused.err
    assert file.read_text() == "mine"
    assert cli(*arguments, "--force").code == 0
    assert file.read_text() == drawn
    assert cli.ok("report", "leaks", "--home", "<leaky> & co", "-o", "-") == drawn


def test_the_ledger_is_not_drawn_over(cli: Cli) -> None:
    leaky(cli)
    assert cli("report", "leaks", "-o", cli.url, "--force").code == 62
    assert cli("report", "leaks").code == 0


def test_what_is_not_there_is_told(cli: Cli) -> None:
    assert cli("report", "leaks").code == 10
    assert not Path(cli.url).exists()
    cli.talk("a", "hello")
    answer = cli("report", "leaks", "--home", "nowhere")
    assert answer.code == 50
    assert "native" in answer.err


def test_sweeps_leave_something_to_report(any_cli: Cli) -> None:
    any_cli.talk("a", "hello")
    any_cli.ok("keep", "--once")
    any_cli.ok("keep", "--once")
    told = any_cli("report", "leaks", "--since", "1d", "--json").json()
    assert told["after"]["samples"] == 1
    assert (told["last"][0]["open"], told["last"][0]["waiting"]) == (1, 1)


@pytest.mark.parametrize("shares", [[], [None, None], [0.0, 0.0], [1.0, None, 0.3, 0.4], [0.004]])
def test_any_series_is_drawn_inside_the_picture(shares: list[float | None]) -> None:
    days = [date(2026, 1, 1) + place * DAY for place in range(len(shares))]
    drawn = chart("a\x00b", days, [Series(name="<one>", colour=INK, shares=shares)])
    root = ET.fromstring(drawn)
    dots = list(root.iter(f"{SVG}circle"))
    assert len(dots) == sum(share is not None for share in shares)
    for dot in dots:
        assert 0 < float(dot.get("cx", "-1")) < WIDTH
        assert TOP <= float(dot.get("cy", "-1")) <= HEIGHT - BOTTOM
        assert (dot.findtext(f"{SVG}title") or "").startswith("2026-01-0")
    words = root.findall(f"{SVG}text[@class='empty']")
    assert len(words) == (not dots)


@pytest.mark.parametrize("letter", ["a", "漢", "&"])
def test_a_long_title_is_cut_where_it_is_drawn_and_told_as_it_is(letter: str) -> None:
    root = ET.fromstring(chart(letter * 200, [], []))
    assert root.findtext(f"{SVG}title") == letter * 200
    drawn = root.findtext(f"{SVG}text") or ""
    assert drawn.endswith("…")
    assert LONGEST - 2 <= cells(drawn) <= LONGEST
    exact = letter * (LONGEST // cells(letter))
    assert ET.fromstring(chart(exact, [], [])).findtext(f"{SVG}text") == exact


def test_every_colour_has_a_counterpart_on_a_dark_page() -> None:
    drawn = chart("t", [date(2026, 1, 1)], [Series(name="one", colour=FAINT, shares=[0.5])])
    style = ET.fromstring(drawn).findtext(f"{SVG}style") or ""
    assert "prefers-color-scheme: dark" in style
    for name in ("paper", "ink", "axis", "grid", "series0"):
        assert f".{name} {{" in style
        assert f'class="{name}"' in drawn
    assert FAINT.dark in style
    assert FAINT.light not in style


def test_of_many_days_only_lonely_ones_get_a_dot() -> None:
    days = [date(2026, 1, 1) + place * DAY for place in range(400)]
    shares = [None if place in (9, 11) else 0.5 for place in range(400)]
    root = ET.fromstring(chart("t", days, [Series(name="one", colour=INK, shares=shares)]))
    (dot,) = root.iter(f"{SVG}circle")
    assert dot.findtext(f"{SVG}title") == "2026-01-11: 50.0%"
