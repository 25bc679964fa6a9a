"""How fast are the sessions of dead processes found and ended, whatever lives beside them?"""

from __future__ import annotations

from collections.abc import Iterator

from bench.beat import alternately
from bench.figures import OURS, Row, Unit, against, growth
from bench.process import Contender
from bench.scene import LIMIT, Measure, Scene

NAME = "reap"
DEAD = 500
TARGET_SIZE = 1_000_000
WIDTHS = {"with a prompt of 2 KB, as Hermes's": 2048, "as narrow as ours": 200}


def run(scene: Scene) -> Iterator[Row]:
    """Against a timer in every session's row: a scan for the late ones, then an UPDATE for each."""
    dead = min(DEAD, scene.sizes.growth[0] // 2)
    small, big = scene.sizes.growth[0], scene.sizes.growth[-1]
    ledgers = {sessions: _ledger(scene, sessions) for sessions in (small, big)}
    named = {
        f"{dead} dead among {sessions:,}": _reaps(dead, ledger=ledger)
        for sessions, ledger in ledgers.items()
    }
    few, many = alternately(scene, NAME, named)
    yield growth(few, many, 2)
    for rows, width in WIDTHS.items():
        scene.say(f"making a table of {big} sessions {rows}")
        name = f"width {width}"
        scene.contender(LIMIT).ask("build_sessions", name=name, sessions=big, width=width)
        jobs = {OURS: _reaps(dead, ledger=ledgers[big]), LIMIT: _reaps(dead, name=name)}
        what = f"{dead} dead among {big:,}; scanned rows {rows}"
        series = scene.measure(NAME, what, Unit.MILLISECONDS, jobs, scene.sizes.few)
        is_judged = big >= TARGET_SIZE and width == max(WIDTHS.values())
        yield against(series, LIMIT, 40 if is_judged else None)


def _ledger(scene: Scene, sessions: int) -> str:
    scene.say(f"making a ledger of {sessions} sessions of a living process")
    ledger = str(scene.ours.place / f"{sessions}.db")
    scene.ours.ask(
        "build_ledger", ledger=ledger, sessions=sessions, messages=1, now=scene.now, due=0
    )
    return ledger


def _reaps(dead: int, **where: str) -> Measure:
    def measure(who: Contender) -> float:
        taken, ended = who.ask("reap", dead=dead, **where)
        if ended != dead:
            raise RuntimeError(f"{ended} sessions were reaped instead of {dead}")
        return 1000 * float(taken)

    return measure
