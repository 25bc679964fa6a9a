"""What does it cost to keep up with a Hermes home?"""

from __future__ import annotations

import time
from collections.abc import Iterator

from bench.figures import OURS, Row, Series, Unit, alone, growth
from bench.process import Contender
from bench.scene import Measure, Scene

NAME = "observe"
SETTLED = 0.3  # seconds after which an unchanged file counts as unchanged


def run(scene: Scene) -> Iterator[Row]:
    """The first look, a look that finds nothing new, and a look that finds one new message."""
    found = {sessions: _looks(scene, sessions) for sessions in scene.sizes.homes}
    smallest, *bigger = sorted(found)
    for sessions in sorted(found):
        yield from map(alone, found[sessions])
    for sessions in bigger:
        yield growth(found[smallest][1], found[sessions][1], 3)
        yield growth(found[smallest][2], found[sessions][2])


def _looks(scene: Scene, sessions: int) -> tuple[Series, Series, Series]:
    home = scene.home(sessions)
    ledgers = [
        str(scene.ours.place / f"{sessions}-{number}.db") for number in range(scene.sizes.few)
    ]
    fresh = iter(ledgers)

    def first(who: Contender) -> float:
        return _look(who, next(fresh), home, sessions)

    def unchanged(who: Contender) -> float:
        return _look(who, ledgers[-1], home, 0)

    def one_more(who: Contender) -> float:
        scene.hermes.ask("say", home=home, session=f"s{sessions // 2:07}")
        return _look(who, ledgers[-1], home, 1)

    def measure(what: str, job: Measure) -> Series:
        return scene.measure(
            NAME, f"{what}, {sessions:,} sessions", Unit.MILLISECONDS, {OURS: job}, scene.sizes.few
        )

    looked = measure("first look", first)
    # A file that was written to a moment ago is looked at again, to be sure.
    scene.hermes.ask("say", home=home, session="s0000001")
    time.sleep(SETTLED)
    _look(scene.ours, ledgers[-1], home, 1)
    return looked, measure("nothing changed", unchanged), measure("one new message", one_more)


def _look(who: Contender, ledger: str, home: str, expected: int) -> float:
    taken, seen = who.ask("observe", ledger=ledger, home=home)
    if seen < expected:
        raise RuntimeError(f"a look at a Hermes home found {seen} sessions instead of {expected}")
    return 1000 * float(taken)
