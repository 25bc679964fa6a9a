"""How did shares go, day by day? Lines over an axis of days."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from math import ceil

from markupsafe import Markup

from sexton.core.days import DATES, LINES, across, runs, top
from sexton.core.record import record
from sexton.web.drawing.elements import Point, element, path, picture, words

WIDTH, HEIGHT = 760.0, 236.0
LEFT, RIGHT, TOP, BOTTOM = 44.0, 14.0, 12.0, 28.0
CROWD = 60
"""Of more days than this only those get a dot that no line reaches."""


@record
class Series:
    """A share for every day, or None where nothing was counted."""

    name: str
    tone: str
    shares: Sequence[float | None]
    dashed: bool = False


def daily(what: str, days: Sequence[date], series: Sequence[Series]) -> Markup:
    """All series in one picture, told as where each began and where it is."""
    known = [share for each in series for share in each.shares if share is not None]
    scale = _Scale(len(days), top(max(known, default=0.0)))
    told = " ".join([f"{what}.", *(_told(each, days) for each in series)])
    return picture(
        WIDTH,
        HEIGHT,
        told,
        *_rulers(scale),
        *_dates(scale, days),
        *(part for each in series for part in _drawn(scale, days, each)),
        *([] if known else [_text(WIDTH / 2, HEIGHT / 2, "nothing was counted yet", "middle")]),
        class_="chart",
    )


class _Scale:
    """Where a day and a share lie."""

    def __init__(self, days: int, top: float) -> None:
        self.days = days
        self.top = top

    def at(self, day: int, share: float) -> Point:
        width = WIDTH - LEFT - RIGHT
        return LEFT + width * across(day, self.days), self.y(share)

    def y(self, share: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share / self.top


def _told(series: Series, days: Sequence[date]) -> str:
    known = [
        f"{share:.1%} on {day:%d %B}"
        for day, share in zip(days, series.shares, strict=True)
        if share is not None
    ]
    ends = ", ".join(dict.fromkeys((known[0], known[-1]))) if known else "no day"
    return f"{series.name}: {ends}."


def _rulers(scale: _Scale) -> Iterator[Markup]:
    for line in range(LINES + 1):
        share = scale.top * line / LINES
        y = scale.y(share)
        style = "grid" if line else "axis"
        yield element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_=style)
        yield _text(LEFT - 8, y + 4, f"{100 * share:g}%", "end")


def _dates(scale: _Scale, days: Sequence[date]) -> Iterator[Markup]:
    every = max(1, ceil(len(days) / DATES))
    for place in range(len(days) - 1, -1, -every):
        x, _ = scale.at(place, 0.0)
        side = "end" if place == len(days) - 1 and len(days) > 1 else "middle"
        yield _text(x, HEIGHT - 8, f"{days[place].day} {days[place]:%b}", side)


def _drawn(scale: _Scale, days: Sequence[date], series: Series) -> Iterator[Markup]:
    """Lines where one day follows the other without a gap, and a dot for each day."""
    parts: list[Markup] = []
    for run in runs(series.shares):
        points = [scale.at(day, share) for day, share in run]
        style = "line dashed" if series.dashed else "line"
        if len(points) > 1 and not series.dashed:
            ground = [*points, (points[-1][0], scale.y(0)), (points[0][0], scale.y(0))]
            parts.append(element("path", d=path(ground) + "Z", class_="area"))
        parts.append(element("path", d=path(points), class_=style))
        if len(days) > CROWD and len(run) > 1:
            continue
        for (day, share), (x, y) in zip(run, points, strict=True):
            said = words(f"{days[day]:%d %B}: {share:.1%} {series.name}")
            dot = element("title", said)
            parts.append(element("circle", dot, cx=x, cy=y, r=2.8, class_="point"))
    yield element("g", *parts, class_=f"tone-{series.tone}")


def _text(x: float, y: float, said: str, side: str) -> Markup:
    return element("text", words(said), x=x, y=y, text_anchor=side)
