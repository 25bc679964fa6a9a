"""How is a share drawn over time? As SVG, by hand, so that nothing else is needed to make it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from html import escape
from math import ceil

WIDTH, HEIGHT = 760, 380
LEFT, RIGHT, TOP, BOTTOM = 60, 44, 92, 56
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25)
LINES = 4
DATES = 6
LONGEST = 80
INK, FAINT, PAPER = "#1f2937", "#d1d5db", "#ffffff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A share for every day, or None; what it is called, and the colour it is drawn in."""

    name: str
    colour: str
    shares: Sequence[float | None]


def chart(title: str, days: Sequence[date], series: Sequence[Series]) -> str:
    """A whole SVG document."""
    known = [share for each in series for share in each.shares if share is not None]
    paper = _Paper(len(days), _top(max(known, default=0.0)))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}"',
        f'  viewBox="0 0 {WIDTH} {HEIGHT}" role="img" font-family="sans-serif" fill="{INK}">',
        f"<title>{_text(title)}</title>",
        f"<desc>{len(series)} shares for each of {len(days)} days.</desc>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{PAPER}"/>',
        f'<text x="{LEFT}" y="30" font-size="18" font-weight="600">{_text(title)}</text>',
        *_legend(series),
        *_shares_axis(paper),
        *_days_axis(paper, days),
        *(line for each in series for line in _drawn(paper, each)),
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
        return round(LEFT + width * (day / (self.days - 1) if self.days > 1 else 0.5), 1)

    def y(self, share: float) -> float:
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share / self.top, 1)


def _top(highest: float) -> float:
    """The end of the axis: above the highest share, and a round number for every line."""
    step = next((step for step in STEPS if step * LINES >= highest), STEPS[-1])
    return step * LINES


def _legend(series: Sequence[Series]) -> Iterator[str]:
    for place, each in enumerate(series):
        y = 52 + 18 * place
        yield f'<circle cx="{LEFT + 5}" cy="{y - 4}" r="4" fill="{each.colour}"/>'
        yield f'<text x="{LEFT + 16}" y="{y}" font-size="12">{_text(each.name)}</text>'


def _shares_axis(paper: _Paper) -> Iterator[str]:
    for line in range(LINES + 1):
        share = paper.top * line / LINES
        y = paper.y(share)
        yield (
            f'<line x1="{LEFT}" y1="{y}" x2="{WIDTH - RIGHT}" y2="{y}" '
            f'stroke="{INK if not line else FAINT}"/>'
        )
        yield (
            f'<text x="{LEFT - 8}" y="{y + 4}" font-size="12" text-anchor="end">'
            f"{100 * share:g} %</text>"
        )


def _days_axis(paper: _Paper, days: Sequence[date]) -> Iterator[str]:
    y = HEIGHT - BOTTOM
    yield f'<line x1="{LEFT}" y1="{TOP}" x2="{LEFT}" y2="{y}" stroke="{INK}"/>'
    for place in range(0, len(days), max(1, ceil(len(days) / DATES))):
        x = paper.x(place)
        yield f'<line x1="{x}" y1="{y}" x2="{x}" y2="{y + 5}" stroke="{INK}"/>'
        yield (
            f'<text x="{x}" y="{y + 20}" font-size="12" text-anchor="middle">'
            f"{days[place]:%Y-%m-%d}</text>"
        )
    yield (
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" font-size="12" '
        f'text-anchor="middle">day (UTC)</text>'
    )


def _drawn(paper: _Paper, series: Series) -> Iterator[str]:
    """Dots for the days, joined where one follows the other without a gap."""
    points = [
        None if share is None else (paper.x(day), paper.y(share))
        for day, share in enumerate(series.shares)
    ]
    for run in _runs(points):
        path = " ".join(f"{x},{y}" for x, y in run)
        yield (
            f'<polyline points="{path}" fill="none" stroke="{series.colour}" stroke-width="2" '
            f'stroke-linejoin="round"/>'
        )
    for point in points:
        if point is not None:
            yield f'<circle cx="{point[0]}" cy="{point[1]}" r="2.5" fill="{series.colour}"/>'


def _runs(
    points: Sequence[tuple[float, float] | None],
) -> Iterator[list[tuple[float, float]]]:
    run: list[tuple[float, float]] = []
    for point in (*points, None):
        if point is not None:
            run.append(point)
        elif run:
            yield run
            run = []


def _text(words: str) -> str:
    """Words as they may stand in SVG: short, and what is no character there is replaced."""
    short = words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"
    return escape("".join(each if each.isprintable() else "\ufffd" for each in short))
