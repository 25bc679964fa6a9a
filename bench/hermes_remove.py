"""How long do Hermes's own writers wait while sessions are removed from their home?"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from typing import Any

from bench.collect import Collected, listen
from bench.figures import OURS, Row, Series, Unit, against, at_most
from bench.scene import Scene

NAME = "hermes_remove"
HERMES = "hermes"
WRITERS = ("hermes writer", "hermes second writer")
MESSAGES = 24
PAUSE = 0.1
"""Seconds between two writes."""


def run(scene: Scene) -> Iterator[Row]:
    """Against Hermes's own prune of the same home, each beside two writers of Hermes."""
    sessions = scene.sizes.removals
    scene.say(f"{NAME}: making a home of {sessions} sessions")
    homes = {name: str(scene.place / f"removed-by-{name}") for name in (OURS, HERMES)}
    values = {"sessions": sessions, "messages": MESSAGES, "now": scene.now}
    size = scene.hermes.ask("build_ended", home=homes[HERMES], **values)
    shutil.copytree(homes[HERMES], homes[OURS])
    ledger = str(scene.ours.place / "ledger.db")
    ours = _removed(scene, homes[OURS], OURS, "remove", ledger=ledger)
    theirs = _removed(scene, homes[HERMES], HERMES, "prune")
    for each in (ours, theirs):
        if each.sessions != sessions:
            raise RuntimeError(f"{each.sessions} sessions were removed instead of {sessions}")
    for home in homes.values():
        shutil.rmtree(home)
    what = f"{sessions:,} sessions from {size / 1e6:.0f} MB, beside two writers of Hermes"
    total = _series(what, ours.seconds, theirs.seconds)
    yield against(total, HERMES, 0.5 if sessions >= 2_500 else None)
    yield at_most(_series("their longest wait", ours.longest, theirs.longest), 1000, HERMES)
    failed = {OURS: [float(ours.failed)], HERMES: [float(theirs.failed)]}
    yield at_most(Series(NAME, "their writes that failed", Unit.COUNT, failed), 0, HERMES)


def _removed(scene: Scene, home: str, name: str, job: str, **values: Any) -> Collected:
    stopped = scene.place / f"{NAME}-{name}-stopped"
    heard: list[Any] = []
    threads = []
    for writer in map(scene.contender, WRITERS):
        writer.ask("begin_writing", store=f"{home}/state.db")
        threads.append(threading.Thread(target=listen, args=(writer, stopped, heard, PAUSE)))
    for thread in threads:
        thread.start()
    scene.say(f"{NAME}: {name} removes")
    try:
        taken, removed = scene.contender(name).ask(job, home=home, **values)
    finally:
        stopped.touch()
        for thread in threads:
            thread.join()
    return Collected(float(taken), int(removed), [each for writes in heard for each in writes])


def _series(what: str, ours: float, theirs: float) -> Series:
    found = {OURS: [1000 * ours], HERMES: [1000 * theirs]}
    return Series(NAME, what, Unit.MILLISECONDS, found)
