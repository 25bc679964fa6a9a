"""What does it cost to ask before spending, and to watch over tools?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from bench.figures import OURS, Row, Unit, at_most
from bench.process import Contender
from bench.scene import Measure, Scene

NAME = "spend"
GUARD_MS = 0.5
TOOL_MS = 0.02


def run(scene: Scene) -> Iterator[Row]:
    """A guarded turn against a plain one with one durable write more, and a tool call alone."""
    turns = 5 * scene.sizes.times
    for what, measure, bound in (
        ("a guarded turn, beyond a plain one and a commit", _guard(scene, turns), GUARD_MS),
        ("breaker and trail, one tool call", _tool(20 * turns), TOOL_MS),
    ):
        series = scene.measure(NAME, what, Unit.CPU, {OURS: measure}, scene.sizes.few)
        yield at_most(series, bound)


def _guard(scene: Scene, turns: int) -> Measure:
    ledgers = (str(scene.ours.place / f"spend-{number}.db") for number in count())

    def measure(who: Contender) -> float:
        return 1000 * max(1e-6, float(who.ask("guard", ledger=next(ledgers), turns=turns)))

    return measure


def _tool(calls: int) -> Measure:
    return lambda who: 1000 * float(who.ask("tool_call", calls=calls))
