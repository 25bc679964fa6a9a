"""What tests of the surface can ask for: the command line on a fresh ledger."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from sexton.core.clock import SystemClock
from tests.scenario.conftest import hermes, hermes_python
from tests.scenario.hermes_home import Hermes, HermesScene
from tests.surface.program import Cli

__all__ = ["hermes", "hermes_python"]


@pytest.fixture(autouse=True)
def _in_a_home_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing of the person who runs the tests is read or written."""
    for name in os.environ:
        if name.startswith("SEXTON_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))


@pytest.fixture(autouse=True)
def _log_of_its_own() -> Iterator[None]:
    """Where a command sends the log is nothing to the next test, whose streams are others."""
    yield
    for name in ("sexton", "psycopg"):
        log = logging.getLogger(name)
        log.handlers.clear()
        log.propagate = True


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wall clock of this process stands still, so that nothing noted grows old."""
    now = SystemClock().now()
    monkeypatch.setattr(SystemClock, "now", lambda _: now)


@pytest.fixture
def noon(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wall clock of this process stands at noon, so that no day ends while it is looked at."""
    now = SystemClock().now().replace(hour=12)
    monkeypatch.setattr(SystemClock, "now", lambda _: now)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Cli:
    """The command line on a file that does not exist yet."""
    return Cli(capsys, str(tmp_path / "ledger.db"))


@pytest.fixture
def any_cli(capsys: pytest.CaptureFixture[str], engine_url: str) -> Cli:
    """The command line on a ledger that does not exist yet, once per engine."""
    return Cli(capsys, engine_url)


@pytest.fixture
def short(tmp_path: Path) -> str:
    """A settings file under which three messages are the limit."""
    file = tmp_path / "short.yaml"
    file.write_text("reset:\n  max_messages: 3\n")
    return str(file)


@pytest.fixture
def scene(hermes: Hermes, tmp_path: Path) -> HermesScene:
    """A new, empty home that Hermes has open."""
    return HermesScene(hermes, tmp_path / "hermes")
