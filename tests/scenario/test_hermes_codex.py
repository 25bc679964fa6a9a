"""Turns that Hermes hands to Codex: no hook tells of them, so they are counted afterwards."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from sexton.spending.model import Scope, Unit
from tests.scenario import codex_program
from tests.scenario.codex_program import ANSWER, TOKENS
from tests.scenario.hermes_lab import listen
from tests.scenario.hermes_spender import Spender, budget, spender


@pytest.fixture(scope="module")
def python(furnished_python: Path) -> Path:
    return furnished_python


def with_codex(home: Spender, place: Path) -> None:
    """Let the home hand its turns to a program that stands in for Codex."""
    folder = place / "bin"
    folder.mkdir()
    program = folder / "codex"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{codex_program.__file__}"\n')
    program.chmod(0o755)
    home.lab.add("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    config = home.lab.home / "config.yaml"
    also = "api_key: sk-fake, api_mode: codex_app_server"
    config.write_text(config.read_text().replace("api_key: sk-fake", also))


def test_turns_that_codex_takes_are_counted_and_doctor_says_that_nothing_stops_them(
    python: Path, tmp_path: Path
) -> None:
    took = TOKENS["totalTokens"]
    with spender(python, tmp_path) as home:
        home.publish(budget(Scope.SESSION, Unit.TOKENS, 100_000))
        with_codex(home, tmp_path)
        with home.lab.terminal("--yolo") as terminal:
            terminal.wait_for("❯")
            terminal.type("Good morning")
            terminal.wait_for(ANSWER)
            terminal.type("And now?")
            listen(terminal, lambda: bool(home.sessions()) and home.spent("session.tokens") == took)
        assert home.model.asked == []
        [session] = home.sessions()
        home.lab.ask("Go on", "--resume", session.id, "--yolo")
        assert home.spent("session.tokens") >= 2 * took
        assert "budgets.unguarded" in home.sexton("doctor", str(home.lab.home), "--json")
