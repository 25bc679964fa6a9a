"""Which tests need more than Python: the marks by which `make quick` leaves them out.

Fixtures and parameters give a test away. A test that starts a server or installs a program by
itself carries the mark in its file.
"""

from __future__ import annotations

import os
import subprocess
from collections import defaultdict
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).parents[1]
UNAVAILABLE = 69
"""The exit code of an install script when this machine cannot have the program."""

FIXTURES = {
    "postgres_server": "postgres",
    "hermes_python": "hermes",
    "release": "hermes",
    "systemd": "systemd",
    "report": "hermes",
    "browser": "browser",
    "town": "browser",
}
CAMPAIGNS = ROOT / "tests" / "crash"


def mark(item: pytest.Item) -> None:
    """Mark a test with what it needs."""
    for fixture in getattr(item, "fixturenames", ()):
        if fixture in FIXTURES:
            item.add_marker(FIXTURES[fixture])
    call = getattr(item, "callspec", None)
    if call is not None and "postgres" in call.id.split("-"):
        item.add_marker("postgres")
    module = getattr(getattr(item, "function", None), "__module__", "")
    is_race = module.startswith("tests.contract.") and module.endswith("_races")
    if item.path.is_relative_to(CAMPAIGNS) or is_race:
        item.add_marker("slow")


def spread(items: Sequence[pytest.Item], workers: int) -> list[pytest.Item]:
    """The tests in the order in which that many workers of xdist are done together.

    xdist gives each worker one stretch of the list, and whoever is done takes from the end of the
    longest stretch left. So each begins with a share of the files that take long.
    """
    if workers == 1:
        return list(items)
    files = defaultdict[Path, list[pytest.Item]](list)
    for item in items:
        files[item.path].append(item)
    cost = {path: sum(map(_is_long, tests)) for path, tests in files.items()}
    shares = [(0, number, list[pytest.Item]()) for number in range(workers)]
    for path in sorted(filter(cost.__getitem__, cost), key=cost.__getitem__, reverse=True):
        taken, number, share = min(shares)
        shares[number] = taken + cost[path], number, [*share, *files[path]]
    others = (item for item in items if not cost[item.path])
    spread = list[pytest.Item]()
    for _, number, share in shares:
        size = (len(items) - len(spread)) // (workers - number)
        spread += [*share, *islice(others, max(size - len(share), 0))]
    return [*spread, *others]


def _is_long(item: pytest.Item) -> bool:
    marks = {mark.name for mark in item.iter_markers()}
    return not marks.isdisjoint(("hermes", "browser")) or item.path.is_relative_to(CAMPAIGNS)


def provide(script: str, *, seconds: float = 600, **chosen: str) -> None:
    """Install a program, or skip the test where this machine cannot have it."""
    command, environment = ["sh", str(ROOT / "scripts" / script)], {**os.environ, **chosen}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=seconds, env=environment, check=False
    )
    if done.returncode == UNAVAILABLE:
        unavailable(done.stderr.strip())
    assert done.returncode == 0, done.stderr


def unavailable(reason: str) -> NoReturn:
    """Skip a test that this machine cannot run; CI can run them all and fails instead."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
