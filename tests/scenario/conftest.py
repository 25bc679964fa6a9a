"""What scenarios can ask for: a running Hermes and a home of its making."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests import layers
from tests.kit.postgres_server import PostgresServer
from tests.scenario.hermes_home import Hermes, HermesScene
from tests.scenario.hermes_inside import furnished_environment
from tests.scenario.rewinding import PostgresRewind, Rewind, SqliteRewind

ROOT = Path(__file__).parents[2]
_names = count(1)


@pytest.fixture(scope="session")
def hermes_python() -> Path:
    """The interpreter of Hermes's own environment, which is installed if it is not there."""
    layers.provide("install_hermes.sh")
    return ROOT / ".venvs" / "hermes" / "bin" / "python"


@pytest.fixture(scope="session")
def furnished_python(hermes_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with Sexton in it, which Hermes loads where a home enables the plugin."""
    return furnished_environment(hermes_python, tmp_path_factory.mktemp("environment"))


@pytest.fixture(scope="session")
def hermes(hermes_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hermes]:
    """One running Hermes for all scenarios; whoever kills it starts one of its own."""
    with Hermes(hermes_python, tmp_path_factory.mktemp("hermes")) as running:
        yield running


@pytest.fixture
def scene(hermes: Hermes, tmp_path: Path) -> HermesScene:
    """A new, empty home that Hermes has open."""
    return HermesScene(hermes, tmp_path / "home")


@pytest.fixture(params=["sqlite", "postgres"])
def rewind(request: pytest.FixtureRequest) -> Iterator[Rewind]:
    """A ledger that can be set back under its users, on each engine."""
    if request.param == "sqlite":
        path: Path = request.getfixturevalue("new_file")
        yield SqliteRewind(path)
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    database = PostgresRewind(server, f"rewound_{next(_names)}")
    yield database
    database.drop()
