"""What was measured, how does it compare, and is that what was aimed at?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

OURS = "sexton"


class Unit(StrEnum):
    """What a figure counts; of a rate more is better, of anything else less."""

    RATE = "msg/s"
    REQUESTS = "req/s"
    MILLISECONDS = "ms"
    CPU = "ms CPU"
    BYTES = "bytes"
    COUNT = "in all"


class Verdict(StrEnum):
    """Whether a target was reached."""

    REACHED = "reached"
    MISSED = "MISSED"
    DISK = "beyond this disk"  # a bare table, one fsync per commit, would not reach it either
    NONE = ""


@dataclass(frozen=True, slots=True)
class Series:
    """One thing measured, by contender, once per round; rounds of all contenders interleave."""

    workload: str
    what: str
    unit: Unit
    rounds: Mapping[str, Sequence[float]]

    def middle(self, name: str) -> float:
        """A contender's median."""
        return median(self.rounds[name])

    def times_better(self, name: str, other: str) -> list[float]:
        """By which factor one contender was better than the other, round by round."""
        pairs = zip(self.rounds[name], self.rounds[other], strict=True)
        better = self.unit is Unit.RATE
        return [mine / theirs if better else theirs / mine for mine, theirs in pairs]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the report: a figure of ours, what it is held against, and the target."""

    workload: str
    what: str
    unit: Unit
    ours: float
    other: str = ""
    theirs: float | None = None
    ratio: float | None = None
    spread: tuple[float, float] | None = None
    target: str = ""
    verdict: Verdict = Verdict.NONE


def alone(series: Series) -> Row:
    """A figure that is only told."""
    return Row(
        workload=series.workload, what=series.what, unit=series.unit, ours=series.middle(OURS)
    )


def against(
    series: Series, peer: str, at_least: float | None = None, limit: str | None = None
) -> Row:
    """How many times better than a peer, as the median over the rounds.

    `limit` names a contender that does only what the disk demands; where even that one would
    miss the target, the disk decides and not the program.
    """
    ratios = series.times_better(OURS, peer)
    ratio = median(ratios)
    verdict = Verdict.NONE
    if at_least is not None:
        possible = limit is None or median(series.times_better(limit, peer)) >= at_least
        missed = Verdict.MISSED if possible else Verdict.DISK
        verdict = Verdict.REACHED if ratio >= at_least else missed
    return Row(
        workload=series.workload,
        what=series.what,
        unit=series.unit,
        ours=series.middle(OURS),
        other=peer,
        theirs=series.middle(peer),
        ratio=ratio,
        spread=(min(ratios), max(ratios)),
        target="" if at_least is None else f">= {at_least:g}x",
        verdict=verdict,
    )


def growth(small: Series, big: Series, at_most: float | None = None) -> Row:
    """How many times longer the same takes in a bigger ledger."""
    pairs = zip(big.rounds[OURS], small.rounds[OURS], strict=True)
    ratios = [more / less for more, less in pairs]
    ratio = median(ratios)
    verdict = Verdict.NONE
    if at_most is not None:
        verdict = Verdict.REACHED if ratio <= at_most else Verdict.MISSED
    return Row(
        workload=big.workload,
        what=big.what,
        unit=big.unit,
        ours=big.middle(OURS),
        other=small.what,
        theirs=small.middle(OURS),
        ratio=ratio,
        spread=(min(ratios), max(ratios)),
        target="" if at_most is None else f"<= {at_most:g}x",
        verdict=verdict,
    )


def at_most(series: Series, bound: float, other: str | None = None) -> Row:
    """A figure that has a bound of its own, the same on every machine."""
    ours = series.middle(OURS)
    return Row(
        workload=series.workload,
        what=series.what,
        unit=series.unit,
        ours=ours,
        other=other or "",
        theirs=None if other is None else series.middle(other),
        target=f"<= {bound:g} {series.unit}",
        verdict=Verdict.REACHED if ours <= bound else Verdict.MISSED,
    )
