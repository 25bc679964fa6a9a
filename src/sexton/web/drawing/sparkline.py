"""How did a number go lately? A line without axes."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from sexton.web.drawing.elements import Point, element, path, picture

WIDTH, HEIGHT, EDGE = 86.0, 34.0, 3.0
MOST = 120
"""So many points are drawn; of more the highest of each few."""


def sparkline(name: str, values: Sequence[float], since: str) -> Markup:
    """The line of a number, told as where it began, its peak and where it is."""
    if len(values) < 2:
        return _without_past(name)
    told = f"{name} {since}: {values[0]:g} at first, {max(values):g} at most, {values[-1]:g} now"
    points = _points(thinned(values))
    ground = path([*points, (points[-1][0], HEIGHT), (points[0][0], HEIGHT)]) + "Z"
    last = points[-1]
    return picture(
        WIDTH,
        HEIGHT,
        told,
        element("path", d=ground, class_="area"),
        element("path", d=path(points), class_="line"),
        element("circle", cx=last[0], cy=last[1], r=2.2, class_="point"),
        class_="spark",
    )


def thinned(values: Sequence[float]) -> list[float]:
    """At most MOST values; a peak is never lost, and the last is the last."""
    if len(values) <= MOST:
        return list(values)
    width = -(-len(values) // (MOST - 1))
    kept = [max(values[at : at + width]) for at in range(0, len(values), width)]
    return [*kept, values[-1]]


def _points(values: Sequence[float]) -> list[Point]:
    low, high = min(0.0, *values), max(values)
    reach = (high - low) or 1.0
    step = (WIDTH - 2 * EDGE) / (len(values) - 1)
    room = HEIGHT - 2 * EDGE
    return [
        (EDGE + step * at, HEIGHT - EDGE - room * (value - low) / reach)
        for at, value in enumerate(values)
    ]


def _without_past(name: str) -> Markup:
    line = element("line", x1=EDGE, x2=WIDTH - EDGE, y1=HEIGHT - EDGE, y2=HEIGHT - EDGE,
                   class_="flat")  # fmt: skip
    return picture(WIDTH, HEIGHT, f"{name}: nothing was counted yet", line, class_="spark")
