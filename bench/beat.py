"""What does it cost to show that a process lives, however many sessions it has?"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from bench.figures import OURS, Row, Series, Unit, against, growth
from bench.scene import LIMIT, Measure, Scene

NAME = "beat"
TARGET_SIZE = 10_000
TIMER = "timers"


def run(scene: Scene) -> Iterator[Row]:
    """One row of the worker against one row of each session, as a timer per session would need."""
    many = scene.sizes.growth[0]
    beats = {sessions: _beat(scene, scene.ledger(sessions)) for sessions in (1, many)}
    named = {f"a beat with {sessions:,} open": job for sessions, job in beats.items()}
    one, all_of_them = alternately(scene, NAME, named)
    yield growth(one, all_of_them, 2)
    scene.contender(LIMIT).ask("build_sessions", name=TIMER, sessions=many, width=200)
    for how, commits in (("committed each", many), ("in one commit", 1)):
        series = scene.measure(
            NAME,
            f"a beat; theirs: {many:,} UPDATEs, {how}",
            Unit.MILLISECONDS,
            {OURS: beats[many], LIMIT: _updates(commits)},
            scene.sizes.few,
        )
        is_judged = commits == many >= TARGET_SIZE
        yield against(series, LIMIT, 100 if is_judged else None)


def alternately(scene: Scene, workload: str, jobs: Mapping[str, Measure]) -> list[Series]:
    """Our own jobs round by round, so that what else the machine does hits all alike."""
    scene.say(f"{workload}: {', '.join(jobs)}")
    found: dict[str, list[float]] = {what: [] for what in jobs}
    for _ in range(scene.sizes.rounds):
        for what, job in jobs.items():
            os.sync()
            found[what].append(job(scene.ours))
    return [
        Series(workload, what, Unit.MILLISECONDS, {OURS: taken}) for what, taken in found.items()
    ]


def _beat(scene: Scene, ledger: str) -> Measure:
    times = 5 * scene.sizes.times
    return lambda who: 1000 * float(who.ask("beat", ledger=ledger, times=times))


def _updates(commits: int) -> Measure:
    return lambda who: 1000 * float(who.ask("beat", name=TIMER, commits=commits))
