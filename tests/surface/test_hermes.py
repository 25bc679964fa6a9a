"""`sexton hermes`: what it refuses, and that it changes nothing then."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.golden import golden
from tests.surface.program import Cli

MINE = "# mine\nplugins: [odd]\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    place = tmp_path / "home"
    place.mkdir()
    (place / "config.yaml").write_text(MINE)
    return place


def test_a_home_that_is_not_there_is_named(cli: Cli, tmp_path: Path) -> None:
    answer = cli("hermes", "install", str(tmp_path / "nowhere"))
    assert (answer.code, str(tmp_path / "nowhere") in answer.err) == (50, True)


def test_without_a_hermes_on_the_path_its_interpreter_is_asked_for(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(home))
    answer = cli("hermes", "install", str(home))
    assert (answer.code, "--python" in answer.err) == (62, True)


def test_a_command_that_names_no_python_is_no_help(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = home / "hermes"
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(home))
    answer = cli("hermes", "uninstall", str(home))
    assert (answer.code, str(command) in answer.err) == (62, True)


@pytest.mark.parametrize("python", [sys.executable, "/nowhere/python", "/bin/false"])
def test_an_interpreter_without_hermes_is_left_alone(cli: Cli, home: Path, python: str) -> None:
    answer = cli("hermes", "install", str(home), "--python", python)
    assert answer.code == 62, answer.err
    assert (home / "config.yaml").read_text() == MINE


def test_a_configuration_that_can_not_be_changed_leaves_the_interpreter_alone(
    cli: Cli, home: Path, hermes_python: Path
) -> None:
    answer = cli("hermes", "install", str(home), "--python", str(hermes_python))
    assert answer.code == 57
    golden("errors", "a configuration that can not be changed", answer.err)
    assert (home / "config.yaml").read_text() == MINE
