"""Where does a share of a day lie in a picture, on paper or on a page?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

LINES = 4
"""So many lines stand above the axis of days."""
DATES = 6
"""So many days are named at most."""
_STEPS = (0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25)


def top(highest: float) -> float:
    """The end of the axis: above the highest share, and a round number for every line."""
    return next((step for step in _STEPS if step * LINES >= highest), _STEPS[-1]) * LINES


def across(day: int, days: int) -> float:
    """How far along the axis a day lies, from 0 to 1; a single one lies in the middle."""
    return day / (days - 1) if days > 1 else 0.5


def runs(shares: Sequence[float | None]) -> Iterator[list[tuple[int, float]]]:
    """The days that follow one another without a gap, each with its share."""
    run: list[tuple[int, float]] = []
    for day, share in enumerate((*shares, None)):
        if share is not None:
            run.append((day, share))
        elif run:
            yield run
            run = []
