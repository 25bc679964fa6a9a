"""How fast does garbage go, and does anybody who writes meanwhile notice?"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from typing import Any

from bench.figures import OURS, Row, Series, Unit, against, at_most, growth
from bench.garbage import trivial_ones
from bench.process import Contender
from bench.scene import Scene

NAME = "collect"
HERMES = "hermes"
TARGET_SIZE = 100_000
FEW = 500
PAUSE = 0.005
"""Seconds between two writes of whoever writes meanwhile."""


@dataclass(frozen=True)
class Collected:
    """How long it took to remove so many, and what a writer met meanwhile."""

    seconds: float
    sessions: int
    writes: Sequence[float | None]

    @property
    def failed(self) -> int:
        return sum(each is None for each in self.writes)

    @property
    def longest(self) -> float:
        return max(self._done, default=0.0)

    @property
    def usual(self) -> float:
        """What 99 of 100 writes stay below."""
        return quantiles(self._done, n=100)[-1] if len(self._done) > 1 else self.longest

    @property
    def _done(self) -> list[float]:
        return [each for each in self.writes if each is not None]


def run(scene: Scene) -> Iterator[Row]:
    """Against Hermes's prune of the same sessions, each beside a writer of its own kind."""
    sessions = scene.sizes.garbage
    garbage = trivial_ones(sessions)
    ours = _collected(scene, OURS, sessions)
    theirs = _collected(scene, HERMES, sessions)
    for each in (ours, theirs):
        if each.sessions != garbage:
            raise RuntimeError(f"{each.sessions} sessions were removed instead of {garbage}")
    what = f"{garbage:,} trivial of {sessions:,}, beside a writer"
    is_full = sessions >= TARGET_SIZE
    yield against(
        _series(what, 1000, ours.seconds, theirs.seconds), HERMES, 15 if is_full else None
    )
    stall = _series("the writer's longest wait", 1000, ours.longest, theirs.longest)
    yield at_most(stall, 250, HERMES)
    usual = _series("99 of 100 of its waits", 1000, ours.usual, theirs.usual)
    yield at_most(usual, 20, HERMES)
    failed = _series("its writes that failed", 1, ours.failed, theirs.failed, Unit.COUNT)
    yield at_most(failed, 0, HERMES)
    scene.dismiss()
    yield from growths(scene)


def growths(scene: Scene) -> Iterator[Row]:
    """As much garbage in ledgers of growing size: the time is that of what goes."""
    found: dict[int, Series] = {}
    for sessions in scene.sizes.growth:
        garbage = min(FEW, scene.sizes.growth[0] // 2)
        ledger = str(scene.ours.place / f"kept-{sessions}.db")
        scene.say(f"making a ledger of {sessions} sessions that are kept")
        scene.ours.ask("build_kept", ledger=ledger, sessions=sessions, now=scene.now)

        def measure(who: Contender, ledger: str = ledger, garbage: int = garbage) -> float:
            who.ask("add_garbage", ledger=ledger, sessions=garbage, now=scene.now)
            taken, removed = who.ask("collect", ledger=ledger)
            if removed != garbage:
                raise RuntimeError(f"{removed} sessions were removed instead of {garbage}")
            return 1000 * float(taken)

        what = f"{garbage} trivial among {sessions:,} that are kept"
        found[sessions] = scene.measure(
            NAME, what, Unit.MILLISECONDS, {OURS: measure}, scene.sizes.rounds
        )
    smallest, *bigger = sorted(found)
    for sessions in bigger:
        yield growth(found[smallest], found[sessions], 2)


def _collected(scene: Scene, name: str, sessions: int) -> Collected:
    """Remove the garbage of a store while another process writes to it."""
    contender = scene.contender(name)
    store = str(contender.place / "garbage" / "store.db")
    scene.say(f"{NAME}: making {sessions} sessions for {name}")
    contender.ask("build_garbage", store=store, sessions=sessions, now=scene.now)
    stopped = contender.place / "stopped"
    heard: list[Any] = []
    writer = scene.contender(f"{name} writer")
    writer.ask("begin_writing", store=store)
    thread = threading.Thread(target=listen, args=(writer, stopped, heard))
    thread.start()
    scene.say(f"{NAME}: {name} collects")
    try:
        taken, removed = contender.ask("collect", ledger=store)
    finally:
        stopped.touch()
        thread.join()
    return Collected(float(taken), int(removed), heard[0] if heard else [])


def listen(writer: Contender, stopped: Path, heard: list[Any], pause: float = PAUSE) -> None:
    """Have a writer write until it is stopped, and hear what it met."""
    heard.append(writer.ask("write_until", stopped=str(stopped), pause=pause))


def _series(
    what: str, factor: float, ours: float, theirs: float, unit: Unit = Unit.MILLISECONDS
) -> Series:
    return Series(NAME, what, unit, {OURS: [factor * ours], HERMES: [factor * theirs]})
