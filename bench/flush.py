"""How fast is end-of-session work done that waits for somebody else most of the time?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from bench.figures import OURS, Row, Series, Unit, against, growth
from bench.process import Contender
from bench.scene import Measure, Scene

NAME = "flush"
FLUSHES = 1000
MILLISECONDS = 50
AT_ONCE = 32
THEIRS = 20
"""Hermes does one after the other, so a few of them tell how long each takes."""


def run(scene: Scene) -> Iterator[Row]:
    """Against the least time it can take, and against Hermes's loop, each per flush."""
    flushes = min(FLUSHES, scene.sizes.store // 5)
    what = f"{flushes:,} flushes of {MILLISECONDS} ms, {AT_ONCE} at once; each"
    jobs = {OURS: _ours(scene, flushes), "hermes": _theirs(min(THEIRS, flushes))}
    series = scene.measure(NAME, what, Unit.MILLISECONDS, jobs, scene.sizes.few)
    least = [MILLISECONDS / AT_ONCE] * len(series.rounds[OURS])
    ideal = Series(NAME, "the least it can take", series.unit, {OURS: least})
    is_judged = flushes == FLUSHES
    yield growth(ideal, series, 1.2 if is_judged else None)
    yield against(series, "hermes", 30 if is_judged else None)
    kept = {OURS: _ours(scene, flushes, "memories.md")}
    what = f"{what}, each answer written down and added to one memory file"
    remembered = scene.measure(NAME, what, Unit.MILLISECONDS, kept, scene.sizes.few)
    yield growth(ideal, remembered)


def _ours(scene: Scene, flushes: int, file: str = "") -> Measure:
    places = (scene.ours.place / f"flush-{file}-{number}" for number in count())

    def measure(who: Contender) -> float:
        place = next(places)
        taken, done = who.ask(
            "flush",
            ledger=f"{place}.db",
            flushes=flushes,
            milliseconds=MILLISECONDS,
            at_once=AT_ONCE,
            file=f"{place}-{file}" if file else None,
        )
        return _each(taken, done, flushes)

    return measure


def _theirs(flushes: int) -> Measure:
    def measure(who: Contender) -> float:
        taken, done = who.ask("flush", flushes=flushes, milliseconds=MILLISECONDS)
        return _each(taken, done, flushes)

    return measure


def _each(taken: float, done: int, wanted: int) -> float:
    if done != wanted:
        raise RuntimeError(f"{done} sessions were flushed instead of {wanted}")
    return 1000 * taken / done
