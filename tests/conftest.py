"""What every test can ask for: a clock, a real PostgreSQL, a fresh ledger's address."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from tests import keeping, layers
from tests.emptied_database import EmptiedDatabase
from tests.kit.postgres_server import PostgresServer
from tests.memory import memory

# `make test` tries the same examples every time and lets each take as long as it takes, so that a
# red run is about the change; `make quick` tries fewer. `make fuzz` tries new ones, and more
# (FUZZ=20).
FUZZ = int(os.environ.get("FUZZ") or 0)
UNTIMED: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("quick", max_examples=20, derandomize=True, **UNTIMED)
settings.register_profile("test", max_examples=50, derandomize=True, **UNTIMED)
settings.register_profile("fuzz", max_examples=100 * max(FUZZ, 1), **UNTIMED)
settings.load_profile("fuzz" if FUZZ else "test")

# Or each of the many programs that tests start compiles the package anew, each worker the tests.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

if place := memory():
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(place))

INSTALLING = ("hermes_python", "release", "browser")
LONGEST_INSTALL = 1200.0
LONGEST_DEATH = 240.0


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what tests need, and let a test wait while a slow network brings a program."""
    for item in items:
        layers.mark(item)
        if not set(INSTALLING).isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.timeout(LONGEST_INSTALL))
    items[:] = layers.spread(items, getattr(config, "workerinput", {}).get("workercount", 1))


def pytest_collection_finish() -> None:
    """Tests and modules stay to the end: whoever collects garbage need not look at them."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _away_from_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Settings of the person who runs the tests are not read, and nothing is put among its data."""
    settings = tmp_path_factory.mktemp("settings")
    pip = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser() / "pip"
    if pip.is_dir():  # from where a test may install a program
        (settings / "pip").symlink_to(pip)
    with pytest.MonkeyPatch.context() as patch:
        for name in [each for each in os.environ if each.startswith("SEXTON_")]:
            patch.delenv(name)
        patch.setenv("XDG_CONFIG_HOME", str(settings))
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.fixture(autouse=True)
def _let_go() -> Iterator[None]:
    """Sessions that a test wanted to stay held are let go when it is over."""
    yield
    keeping.let_go()


@pytest.fixture(autouse=True)
def _time_to_die(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine even a killed process takes its time to end."""
    monkeypatch.setattr("sexton.processes.stopping.LAST_WAIT", LONGEST_DEATH)
    monkeypatch.setattr("sexton.finalizers.effects.command_effect.LAST_WAIT", LONGEST_DEATH)


@pytest.fixture
def manual_clock() -> ManualClock:
    """A clock of the test's own."""
    return ManualClock()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One running server for all tests of a process; whoever hurts it uses one of its own."""
    with PostgresServer() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """A new, empty PostgreSQL database."""
    url = postgres_server.create_database()
    yield url
    postgres_server.drop_database(url)


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty ledger in a file, to be copied: cheaper than to make one for every test."""
    path = tmp_path_factory.mktemp("empty") / "ledger.db"
    open_ledger(str(path)).close()
    return path


@pytest.fixture
def new_file(empty_file: Path, tmp_path: Path) -> Path:
    """A fresh ledger in a file of the test's own."""
    return Path(shutil.copy(empty_file, tmp_path))


@pytest.fixture(scope="session")
def emptied_database(postgres_server: PostgresServer) -> EmptiedDatabase:
    """A PostgreSQL ledger that is as if it were new for each test that asks."""
    return EmptiedDatabase(postgres_server)


@pytest.fixture(params=["sqlite", "postgres"])
def engine_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a fresh ledger, once per engine."""
    if request.param == "sqlite":
        yield f"sqlite:///{request.getfixturevalue('new_file')}"
        return
    emptied: EmptiedDatabase = request.getfixturevalue("emptied_database")
    yield emptied.fresh()
