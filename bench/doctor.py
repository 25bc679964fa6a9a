"""How long does it take to tell what is wrong with a Hermes home?"""

from __future__ import annotations

import time
from collections.abc import Iterator

from bench.figures import OURS, Row, Series, Unit, alone, at_most
from bench.observe import SETTLED
from bench.process import Contender
from bench.scene import Measure, Scene

NAME = "doctor"
TARGET_SIZE = 100_000
EXAMINED = 10_000
UNCHANGED = 50
"""Milliseconds for a home of that size: to examine it at first sight, and to see it unchanged."""


def run(scene: Scene) -> Iterator[Row]:
    """A home that was never seen, the same once more, and a look that finds nothing new."""
    sessions = max(scene.sizes.homes)
    home = scene.home(sessions)
    time.sleep(SETTLED)
    ledgers = [str(scene.ours.place / f"doctor-{number}.db") for number in range(scene.sizes.few)]
    fresh = iter(ledgers)

    def first(who: Contender) -> float:
        return _examined(who, next(fresh), home)

    def again(who: Contender) -> float:
        return _examined(who, ledgers[-1], home)

    def unchanged(who: Contender) -> float:
        taken, _ = who.ask("observe", ledger=ledgers[-1], home=home)
        return 1000 * float(taken)

    def measure(what: str, job: Measure) -> Series:
        told = f"{what}, {sessions:,} sessions"
        return scene.measure(NAME, told, Unit.MILLISECONDS, {OURS: job}, scene.sizes.few)

    yield _judged(measure("a home never seen before", first), sessions, EXAMINED)
    yield alone(measure("the same home again", again))
    yield _judged(measure("a look that finds nothing new", unchanged), sessions, UNCHANGED)


def _judged(series: Series, sessions: int, bound: float) -> Row:
    return at_most(series, bound) if sessions >= TARGET_SIZE else alone(series)


def _examined(who: Contender, ledger: str, home: str) -> float:
    taken, seen = who.ask("examine", ledger=ledger, home=home)
    if not seen:
        raise RuntimeError("a Hermes home was examined and found to be empty")
    return 1000 * float(taken)
