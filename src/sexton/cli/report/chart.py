"""How is a share drawn over time? As SVG, by hand, so that nothing else is needed to make it.

The colours are attributes, which every program understands, and a style sheet changes them for
readers who prefer a dark page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from html import escape
from itertools import accumulate
from math import ceil
from typing import NamedTuple

from sexton.cli.terminal import cells
from sexton.core.days import DATES, LINES, across, runs, top

WIDTH, HEIGHT = 760, 400
LEFT, RIGHT, TOP, BOTTOM = 60, 44, 112, 56
CROWD = 100
"""Of more days than this only those get a dot that no line reaches."""
LONGEST = 60
"""So many letters of a title fit on the paper."""


class Colour(NamedTuple):
    """On white paper, and on dark."""

    light: str
    dark: str


INK = Colour("#1f2937", "#e5e7eb")
FAINT = Colour("#d1d5db", "#374151")
PAPER = Colour("#ffffff", "#0d1117")


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A share for every day, or None; what it is called, and how its line looks."""

    name: str
    colour: Colour
    shares: Sequence[float | None]
    dashed: bool = False


def chart(title: str, days: Sequence[date], series: Sequence[Series]) -> str:
    """A whole SVG document."""
    known = [share for each in series for share in each.shares if share is not None]
    paper = _Paper(len(days), top(max(known, default=0.0)))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}"',
        f'  viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="title desc"',
        f'  class="ink" font-family="sans-serif" font-size="12" fill="{INK.light}">',
        f'<title id="title">{_escaped(title)}</title>',
        f'<desc id="desc">{" ".join(_told(each, days) for each in series)}</desc>',
        *_style(series),
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}" fill="{PAPER.light}"/>',
        _heading(_shortened(title)),
        *_legend(series),
        *_shares_axis(paper),
        *_days_axis(paper, days),
        *(line for each in enumerate(series) for line in _drawn(paper, days, *each)),
        *([] if known else [_nothing(paper)]),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class _Paper:
    """Where a day and a share lie."""

    days: int
    top: float

    def x(self, day: int) -> float:
        width = WIDTH - LEFT - RIGHT
        return round(LEFT + width * across(day, self.days), 1)

    def y(self, share: float) -> float:
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share / self.top, 1)


def _told(series: Series, days: Sequence[date]) -> str:
    """A series in words, for who can not see it."""
    known = [
        f"{share:.0%} on {day}"
        for day, share in zip(days, series.shares, strict=True)
        if share is not None
    ]
    ends = ", ".join(dict.fromkeys((known[0], known[-1]))) if known else "no day"
    return f"{_escaped(series.name)}: {ends}."


def _style(series: Sequence[Series]) -> Iterator[str]:
    yield "<style>@media (prefers-color-scheme: dark) {"
    yield f"  .paper {{ fill: {PAPER.dark} }} .ink {{ fill: {INK.dark} }}"
    yield f"  .axis {{ stroke: {INK.dark} }} .grid {{ stroke: {FAINT.dark} }}"
    for place, each in enumerate(series):
        yield f"  .series{place} {{ fill: {each.colour.dark}; stroke: {each.colour.dark} }}"
    yield "}</style>"


def _legend(series: Sequence[Series]) -> Iterator[str]:
    for place, each in enumerate(series):
        y = 54 + 18 * place
        line = f'<line x1="{LEFT}" y1="{y - 4}" x2="{LEFT + 24}" y2="{y - 4}" {_pen(each)}/>'
        yield f"<g {_ink(place, each)}>{line}</g>"
        yield f'<text x="{LEFT + 32}" y="{y}">{_escaped(each.name)}</text>'


def _shares_axis(paper: _Paper) -> Iterator[str]:
    for line in range(LINES + 1):
        share = paper.top * line / LINES
        y = paper.y(share)
        colour = f'class="grid" stroke="{FAINT.light}"' if line else _axis()
        yield f'<line x1="{LEFT}" y1="{y}" x2="{WIDTH - RIGHT}" y2="{y}" {colour}/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{100 * share:g} %</text>'


def _days_axis(paper: _Paper, days: Sequence[date]) -> Iterator[str]:
    y = HEIGHT - BOTTOM
    yield f'<line x1="{LEFT}" y1="{TOP}" x2="{LEFT}" y2="{y}" {_axis()}/>'
    for place in range(0, len(days), max(1, ceil(len(days) / DATES))):
        x = paper.x(place)
        yield f'<line x1="{x}" y1="{y}" x2="{x}" y2="{y + 5}" {_axis()}/>'
        yield f'<text x="{x}" y="{y + 20}" text-anchor="middle">{days[place]:%Y-%m-%d}</text>'
    yield _centred(HEIGHT - 12, "day (UTC)")


def _drawn(paper: _Paper, days: Sequence[date], place: int, series: Series) -> Iterator[str]:
    """Dots for the days, joined where one follows the other without a gap."""
    yield f"<g {_ink(place, series)}>"
    for run in runs(series.shares):
        points = [(paper.x(day), paper.y(share)) for day, share in run]
        path = " ".join(f"{x},{y}" for x, y in points)
        yield f'<polyline points="{path}" fill="none" stroke-linejoin="round" {_pen(series)}/>'
        if len(days) > CROWD and len(run) > 1:
            continue
        for (day, share), (x, y) in zip(run, points, strict=True):
            words = f"<title>{days[day]}: {share:.1%}</title>"
            yield f'<circle cx="{x}" cy="{y}" r="2.5">{words}</circle>'
    yield "</g>"


def _ink(place: int, series: Series) -> str:
    colour = series.colour.light
    return f'class="series{place}" fill="{colour}" stroke="{colour}"'


def _pen(series: Series) -> str:
    return 'stroke-width="2"' + (' stroke-dasharray="5 4"' if series.dashed else "")


def _axis() -> str:
    return f'class="axis" stroke="{INK.light}"'


def _heading(words: str) -> str:
    return f'<text x="{LEFT}" y="30" font-size="18" font-weight="600">{_escaped(words)}</text>'


def _centred(y: float, words: str) -> str:
    x = (LEFT + WIDTH - RIGHT) / 2
    return f'<text x="{x}" y="{y}" text-anchor="middle">{words}</text>'


def _nothing(paper: _Paper) -> str:
    words = _centred(paper.y(paper.top / LINES * 2.5), "nothing was counted")
    return words.replace("<text", '<text class="empty"', 1)


def _shortened(words: str) -> str:
    """As much of a title as fits."""
    taken = list(accumulate(map(cells, words)))
    if not taken or taken[-1] <= LONGEST:
        return words
    return words[: sum(each < LONGEST for each in taken)] + "…"


def _escaped(words: str) -> str:
    """Words as they may stand in SVG; what is no character there is replaced."""
    return escape("".join(each if each.isprintable() else "\ufffd" for each in words))
