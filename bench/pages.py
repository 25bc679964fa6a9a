"""How long does a person wait for a page of very many sessions, whatever is looked for?"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

from bench.figures import OURS, Row, Series, Unit, alone, at_most
from bench.runs_pages import YEAR
from bench.scene import Scene

NAME = "pages"
TARGET_SIZE = 1_000_000
SMALLEST = 1000
BOUND = 300
ENGINES = ("sqlite", "postgres")
ON = 5
"""So many times is gone on looking for what is not there."""


def run(scene: Scene) -> Iterator[Row]:
    """Pages of the list of sessions as a browser gets them; a small run leaves PostgreSQL out."""
    sessions = scene.sizes.growth[-1]
    for engine in ENGINES if sessions >= SMALLEST else ENGINES[:1]:
        yield from _on(scene, engine, sessions)
        scene.dismiss()


def _on(scene: Scene, engine: str, sessions: int) -> Iterator[Row]:
    site = scene.contender(f"{OURS} pages")
    scene.say(f"{NAME}: {sessions:,} sessions on {engine}")
    site.ask("open_pages", directory=str(site.place), sessions=sessions, engine=engine)
    for name, asked in questions(scene.now).items():
        path = "/sessions?" + urlencode(asked)
        taken = [1000 * float(site.ask("page", path=path, times=3)) for _ in range(scene.sizes.few)]
        if "text" in asked:
            taken = [1000 * max(site.ask("looked_on", path=path, times=ON)), *taken]
        what = f"{name} of {sessions:,} on {engine}"
        series = Series(NAME, what, Unit.MILLISECONDS, {OURS: taken})
        yield at_most(series, BOUND) if sessions >= TARGET_SIZE else alone(series)


def questions(now: int) -> dict[str, dict[str, str]]:
    """What is looked for, by how it is called."""
    nothing = {"text": "nothing is called that"}
    return {
        "newest": {},
        "middle": {"after": f"{now - YEAR // 2}-0"},
        "of a home": {"home": "other"},
        "of a source": {"source": "cron"},
        "open": {"state": "open"},
        "leaked": {"state": "leaked"},
        "silent": {"age": "silent-30d"},
        "biggest": {"sort": "size"},
        "by text": {"text": "conversation 77"},
        "none by text": nothing,
        "none by text and size": {**nothing, "sort": "size"},
    }
