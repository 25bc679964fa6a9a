"""How fast are the sessions found whose time has come, and what does a touch cost?"""

from __future__ import annotations

from collections.abc import Iterator

from bench.data import DUE
from bench.figures import OURS, Row, Series, Unit, against, growth
from bench.process import Contender
from bench.scene import Measure, Scene

NAME = "find_due"
TARGET_SIZE = 100_000


def run(scene: Scene) -> Iterator[Row]:
    """Against one pass of Hermes's expiry watcher, which looks at every session there is."""
    sessions = scene.sizes.store
    scene.say(f"making a gateway's store of {sessions} sessions")
    scene.hermes.ask("build_store", sessions=sessions)
    ledger = scene.ledger(sessions)
    target = 1000 if sessions >= TARGET_SIZE else None
    passes = scene.measure(
        NAME,
        f"{DUE} due among {sessions:,}",
        Unit.MILLISECONDS,
        {OURS: _asks(scene, "find_due", ledger), "hermes": _watcher},
        scene.sizes.few,
    )
    yield against(passes, "hermes", target)
    plans = scene.measure(
        NAME,
        "a whole plan for them",
        Unit.MILLISECONDS,
        {OURS: _asks(scene, "plan", ledger)},
        scene.sizes.few,
    )
    both = {OURS: plans.rounds[OURS], "hermes": passes.rounds["hermes"]}
    yield against(Series(NAME, plans.what, plans.unit, both), "hermes", target)
    touches = scene.measure(
        NAME,
        f"touch one of {sessions:,}, durable",
        Unit.MILLISECONDS,
        {OURS: _touch(scene, ledger), "hermes": lambda who: 1000 * float(who.ask("touch"))},
        scene.sizes.few,
    )
    yield against(touches, "hermes", target)
    scene.dismiss()
    yield from growths(scene)


def growths(scene: Scene) -> Iterator[Row]:
    """The same question, and the same touch, in ledgers of growing size."""
    ledgers = {sessions: scene.ledger(sessions) for sessions in scene.sizes.growth}
    due = {
        sessions: scene.measure(
            NAME,
            f"{DUE} due among {sessions:,}",
            Unit.MILLISECONDS,
            {OURS: _asks(scene, "find_due", ledger)},
            scene.sizes.few,
        )
        for sessions, ledger in ledgers.items()
    }
    touch = {
        sessions: scene.measure(
            NAME,
            f"touch one of {sessions:,}",
            Unit.MILLISECONDS,
            {OURS: _touch(scene, ledger)},
            scene.sizes.few,
        )
        for sessions, ledger in ledgers.items()
    }
    smallest, *bigger = sorted(ledgers)
    for sessions in bigger:
        yield growth(due[smallest], due[sessions], 3)
        yield growth(touch[smallest], touch[sessions], 3)


def _asks(scene: Scene, job: str, ledger: str) -> Measure:
    def measure(who: Contender) -> float:
        taken, found = who.ask(job, ledger=ledger, times=scene.sizes.times)
        return _checked(taken, found)

    return measure


def _touch(scene: Scene, ledger: str) -> Measure:
    times = 5 * scene.sizes.times
    return lambda who: 1000 * float(who.ask("touch", ledger=ledger, times=times))


def _watcher(who: Contender) -> float:
    taken, found = who.ask("find_due")
    return _checked(taken, found)


def _checked(taken: float, found: int) -> float:
    if found != DUE:
        raise RuntimeError(f"{found} sessions were found to be due instead of {DUE}")
    return 1000 * taken
