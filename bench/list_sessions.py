"""How fast is a page of the newest sessions, and does that depend on how many there are?"""

from __future__ import annotations

from collections.abc import Iterator

from bench.data import PAGE
from bench.figures import OURS, Row, Series, Unit, against, growth
from bench.scene import Measure, Scene

NAME = "list"
TARGET_SIZE = 100_000


def run(scene: Scene) -> Iterator[Row]:
    """The newest sessions by activity with their previews, the first page and one far down."""
    sessions = scene.sizes.sessions
    home, ledger = scene.home(sessions), scene.ledger(sessions, messages=4)
    for where, skip in (("newest", 0), ("middle", sessions // 2)):
        jobs = {OURS: _page(scene, ledger, skip), "hermes": _foreign_page(home, skip)}
        _check_same(scene, home, ledger, skip)
        what = f"{where} {PAGE} of {sessions:,} with preview"
        series = scene.measure(NAME, what, Unit.MILLISECONDS, jobs, scene.sizes.few)
        yield against(series, "hermes", 1000 if sessions >= TARGET_SIZE else None)
    scene.dismiss()
    yield from growths(scene)


def growths(scene: Scene) -> Iterator[Row]:
    """The newest page, and one session by its id, in ledgers of growing size."""
    ledgers = {sessions: scene.ledger(sessions) for sessions in scene.sizes.growth}
    pages: dict[int, Series] = {}
    finds: dict[int, Series] = {}
    for sessions, ledger in ledgers.items():
        what = f"newest {PAGE} of {sessions:,}"
        jobs = {OURS: _page(scene, ledger, 0)}
        pages[sessions] = scene.measure(NAME, what, Unit.MILLISECONDS, jobs, scene.sizes.few)
        what, jobs = f"one by id of {sessions:,}", {OURS: _find(scene, ledger)}
        finds[sessions] = scene.measure(NAME, what, Unit.MILLISECONDS, jobs, scene.sizes.few)
    smallest, *bigger = sorted(ledgers)
    for found in (pages, finds):
        for sessions in bigger:
            yield growth(found[smallest], found[sessions], 3)


def _find(scene: Scene, ledger: str) -> Measure:
    values = {"ledger": ledger, "id": "s0000042", "times": scene.sizes.times}
    return lambda who: 1000 * float(who.ask("find", **values))


def _page(scene: Scene, ledger: str, skip: int) -> Measure:
    values = {"ledger": ledger, "skip": skip, "times": scene.sizes.times}
    return lambda who: 1000 * float(who.ask("list_page", **values)[0])


def _foreign_page(home: str, skip: int) -> Measure:
    return lambda who: 1000 * float(who.ask("list_page", home=home, skip=skip, times=1)[0])


def _check_same(scene: Scene, home: str, ledger: str, skip: int) -> None:
    """Two lists are compared only if they are the same list."""
    ours = scene.ours.ask("list_page", ledger=ledger, skip=skip, times=1)[1]
    theirs = scene.hermes.ask("list_page", home=home, skip=skip, times=1)[1]
    if ours != theirs or len(ours) != PAGE:
        raise RuntimeError("Sexton and Hermes list different sessions")
