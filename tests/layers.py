"""Which tests need more than Python: the marks by which `make quick` leaves them out.

Fixtures and parameters give a test away. A test that starts a server or installs a program by
itself carries the mark in its file.
"""

from __future__ import annotations

import os
import subprocess
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
    is_race = module.startswith("sexton.testing.") and module.endswith("_races")
    if item.path.is_relative_to(CAMPAIGNS) or is_race:
        item.add_marker("slow")


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
