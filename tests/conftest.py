"""What every test can ask for: a clock, a real PostgreSQL, a fresh ledger's address."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from sexton.testing.clock import ManualClock
from sexton.testing.postgres import PostgresServer

# CI tries the same examples every time, so that a change is judged by what it changed; at a
# developer's desk each run tries new ones.
settings.register_profile("ci", derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


@pytest.fixture(autouse=True, scope="session")
def _place_for_data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What a ledger on a server keeps on this machine is not put among the user's own things."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield


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


@pytest.fixture(params=["sqlite", "postgres"])
def engine_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a ledger that does not exist yet, once per engine."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.db'}"
    url: str = request.getfixturevalue("postgres_url")
    return url
