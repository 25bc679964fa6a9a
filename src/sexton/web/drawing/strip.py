"""When did a session live? One bar from its start to now, or to its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from markupsafe import Markup

from sexton.web.drawing.elements import element, picture, words

WIDTH, HEIGHT = 760.0, 62.0
TOP, TALL = 20.0, 14.0
NEAR = 120.0
"""Two words nearer than this would stand on one another."""


class Mark(NamedTuple):
    """A moment of a life."""

    at: datetime
    name: str


class Life(NamedTuple):
    """A session's time: what it has lived, until when it is looked at, and what happened."""

    started: datetime
    active: datetime
    until: datetime
    tone: str
    marks: Sequence[Mark] = ()


def strip(told: str, life: Life, due: datetime | None = None) -> Markup:
    """The whole picture; what is to come is drawn dashed."""
    start = min(life.started, life.active)
    end = max(life.until, life.active, *(each.at for each in life.marks), start, *_known(due))
    reach = max(end - start, timedelta(seconds=1))

    def x(moment: datetime) -> float:
        return WIDTH * ((moment - start) / reach)

    lived = max(2.0, x(life.active))
    parts = [
        element("rect", x=0, y=TOP, width=x(life.until), height=TALL, rx=4, class_="track"),
        element(
            "rect", x=0, y=TOP, width=lived, height=TALL, rx=4, class_=f"alive tone-{life.tone}"
        ),
    ]
    if due is not None and due > life.until:
        wide = x(due) - x(life.until)
        parts.append(
            element("rect", x=x(life.until), y=TOP, width=wide, height=TALL, class_="ahead")
        )
    marks = sorted([*life.marks, *([Mark(due, "due")] if due is not None else [])])
    return picture(WIDTH, HEIGHT, told, *parts, *_marks(marks, x), class_="strip")


def _known(due: datetime | None) -> list[datetime]:
    return [] if due is None else [due]


def _marks(marks: Sequence[Mark], x: Callable[[datetime], float]) -> Iterator[Markup]:
    """A tick for each moment, and its word where there is room."""
    above, below = -NEAR, -NEAR
    for each in marks:
        place = min(max(x(each.at), 1.0), WIDTH - 1.0)
        yield element(
            "line",
            element("title", words(f"{each.name}: {each.at:%Y-%m-%d %H:%M} UTC")),
            x1=place, x2=place, y1=TOP - 3, y2=TOP + TALL + 3, class_="mark",
        )  # fmt: skip
        if place - above >= NEAR:
            above, y = place, TOP - 8
        elif place - below >= NEAR:
            below, y = place, TOP + TALL + 17
        else:
            continue
        side = "start" if place < NEAR / 2 else "end" if place > WIDTH - NEAR / 2 else "middle"
        yield element("text", words(each.name), x=place, y=y, text_anchor=side)
