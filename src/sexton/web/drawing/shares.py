"""How is a whole divided, and how full is something?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from markupsafe import Markup

from sexton.web.drawing.elements import element, stretched, words

WIDTH, HEIGHT, GAP = 1000.0, 10.0, 2.0
LEAST = 6.0
"""What is there is seen, however little it is."""


class Part(NamedTuple):
    """A part of a whole, with the tone it is drawn in."""

    name: str
    tone: str
    many: int


def shares(what: str, parts: Sequence[Part]) -> Markup:
    """One bar with every part that is not nothing."""
    there = [each for each in parts if each.many > 0]
    whole = sum(each.many for each in there)
    told = ", ".join(f"{each.many} {each.name}" for each in there) or "none"
    ground = element("rect", width=WIDTH, height=HEIGHT, class_="rest")
    drawn = [] if not whole else _bars([each.many / whole for each in there], there)
    return stretched(WIDTH, HEIGHT, f"{what}: {told}", ground, *drawn, class_="shares")


def _bars(sizes: Sequence[float], parts: Sequence[Part]) -> list[Markup]:
    room = WIDTH - GAP * (len(parts) - 1)
    wide = [max(LEAST, room * size) for size in sizes]
    wide = [each * room / sum(wide) for each in wide]
    starts = accumulate((each + GAP for each in wide), initial=0.0)
    return [
        element(
            "rect",
            element("title", words(f"{each.many} {each.name}")),
            x=start,
            width=width,
            height=HEIGHT,
            class_=f"tone-{each.tone}",
        )
        for start, width, each in zip(starts, wide, parts, strict=False)
    ]


def gauge(told: str, used: float, limit: float, warned: float | None = None) -> Markup:
    """How much of a limit is used; beyond it the bar is full, and a mark says where it warns."""
    share = min(1.0, max(0.0, used / limit)) if limit > 0 else 1.0
    tone = "dead" if share >= 1 else "suspect" if warned and share >= warned else "accent"
    parts = [
        element("rect", width=WIDTH, height=HEIGHT, class_="track"),
        element("rect", width=WIDTH * share, height=HEIGHT, class_=f"fill tone-{tone}"),
    ]
    if warned:
        parts.append(element("rect", x=WIDTH * warned, width=3, height=HEIGHT, class_="mark"))
    return stretched(WIDTH, HEIGHT, told, *parts, class_="gauge")
