"""How many may ask all the time what goes on, and do sweeps suffer from it?"""

from __future__ import annotations

from collections.abc import Iterator

from bench.figures import OURS, Row, Series, Unit, Verdict, growth
from bench.scene import Scene

NAME = "activity"
TARGET_SIZE = 10_000
RATE = 1000


def run(scene: Scene) -> Iterator[Row]:
    """Conditional requests while a keeper sweeps in the same process, against sweeps alone."""
    sessions = scene.sizes.growth[0]
    is_judged = sessions >= TARGET_SIZE
    rate, seconds = (RATE, 10.0) if is_judged else (200, 1.0)
    site = scene.contender(f"{OURS} site")
    scene.say(f"{NAME}: {sessions:,} live sessions, {rate} requests a second")
    site.ask("open_site", directory=str(site.place), sessions=sessions)
    alone, beside, asked = [], [], []
    for _ in range(scene.sizes.few):
        found = site.ask("load", rate=rate, seconds=seconds)
        alone.append(1000 * float(found["alone"]))
        beside.append(1000 * float(found["beside"]))
        asked.append(float(found["rate"]))
    held = Series(NAME, f"If-None-Match, {sessions:,} live", Unit.REQUESTS, {OURS: asked})
    reached = held.middle(OURS) >= 0.98 * RATE
    yield Row(
        workload=NAME,
        what=held.what,
        unit=held.unit,
        ours=held.middle(OURS),
        target=f">= {RATE} req/s" if is_judged else "",
        verdict=(Verdict.REACHED if reached else Verdict.MISSED) if is_judged else Verdict.NONE,
    )
    quiet = Series(NAME, "a sweep alone", Unit.MILLISECONDS, {OURS: alone})
    busy = Series(NAME, f"a sweep beside {rate} req/s", Unit.MILLISECONDS, {OURS: beside})
    yield growth(quiet, busy, 2 if is_judged else None)
