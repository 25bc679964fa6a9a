"""`sexton config import-hermes`: their settings in our words, and what has none."""

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from sexton.homes.hermes.config_files import read_configuration
from sexton.homes.hermes.importing import Imported, import_settings
from sexton.settings.loader import load, problems
from tests.surface.program import Cli

CONFIG = """\
# theirs, with a comment that stays theirs
session_reset:
  mode: both
  idle_minutes: 120
  at_hour: 6
  notify: false
  bg_process_max_age_hours: 12
sessions:
  auto_prune: true
  retention_days: 30
  vacuum_after_prune: true
agent:
  max_turns: 60
delegation:
  max_iterations: 25
tool_loop_guardrails:
  hard_stop_enabled: true
  warn_after: {same_tool_failure: 3, exact_failure: 2}
  hard_stop_after: {same_tool_failure: 8}
goals: {max_turns: 20}
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a configuration of its own; a database is not needed."""
    place = tmp_path / "their home"
    place.mkdir()
    (place / "config.yaml").write_text(CONFIG)
    return place


def imported(cli: Cli, home: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """The settings, and what was left with its reason."""
    answer = cli("config", "import-hermes", str(home), "--json").json()
    return answer["settings"], {each["name"]: each["why"] for each in answer["left"]}


def test_everything_that_has_an_equivalent_is_taken_over(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    settings, left = imported(cli, home)
    assert settings == {
        "homes": [{"path": str(home)}],
        "reset": {"mode": "both", "idle_minutes": 120, "at_hour": 6, "timezone": "Europe/Berlin"},
        "processes": {"ttl": "12h"},
        "breaker": {"warn_at": [3, 8]},
        "retention": {"rows": "archive", "rows_max_age": "30d"},
        "notify": {"events": ["limit", "dead_letter", "held", "process", "budget", "disk"]},
        "budgets": [
            {"scope": "turn", "iterations": 60, "action": "pause"},
            {"scope": "turn", "iterations": 25, "action": "pause", "sources": ["subagent"],
             "name": "subagents"},
        ],
    }  # fmt: skip
    assert set(left) == {
        "sessions.vacuum_after_prune", "goals.max_turns",
        "tool_loop_guardrails.warn_after.exact_failure",
    }  # fmt: skip
    assert all(left.values())


def test_what_is_written_can_be_loaded_and_says_where_it_comes_from(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "new" / "sexton.yaml"
    answer = cli("config", "import-hermes", str(home), "-o", str(file))
    assert answer.code == 0
    assert f"{home}/config.yaml:11)" in answer.err
    assert problems(file, {}) == []
    settings = load(file, {})
    assert settings.rulebook.reset.idle_minutes == 120
    assert [each.path for each in settings.homes] == [home]
    text = file.read_text()
    assert "  idle_minutes: 120  # session_reset.idle_minutes\n" in text
    assert "a comment that stays theirs" not in text
    assert (home / "config.yaml").read_text() == CONFIG


def test_a_settings_file_is_never_replaced_unless_that_is_asked_for(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("# mine\n")
    refused = cli("config", "import-hermes", str(home), "--config", str(file))
    assert refused.code != 0
    assert file.read_text() == "# mine\n"
    cli.ok("config", "import-hermes", str(home), "--config", str(file), "--force")
    assert "idle_minutes: 120" in file.read_text()


def test_the_older_file_and_variables_count_as_they_do_for_hermes(cli: Cli, home: Path) -> None:
    (home / "config.yaml").write_text("model: x\n")
    (home / ".env").write_text("SESSION_IDLE_MINUTES=45\nSESSION_RESET_HOUR=noon\n")
    gateway = {
        "default_reset_policy": {"mode": "idle", "idle_minutes": 60},
        "reset_by_platform": {"telegram": {"mode": "daily", "at_hour": 3}},
        "reset_by_type": {"group\nact: 1": {"mode": "idle", "idle_minutes": 0}},
        "session_store_max_age_days": 30,
    }
    (home / "gateway.json").write_text(json.dumps(gateway))
    settings, left = imported(cli, home)
    assert settings["reset"]["idle_minutes"] == 45
    assert settings["reset"]["rules"] == [
        {"chat_types": ["group\nact: 1"], "mode": "idle"},
        {"sources": ["telegram"], "mode": "daily", "at_hour": 3},
    ]
    assert set(left) == {
        "SESSION_RESET_HOUR", "reset_by_type.group\nact: 1.idle_minutes",
        "session_store_max_age_days",
    }  # fmt: skip


def test_values_that_hermes_could_not_use_are_told_and_not_taken(cli: Cli, home: Path) -> None:
    (home / "config.yaml").write_text(
        "session_reset: {mode: idel, idle_minutes: '120', at_hour: 24}\n"
        "sessions: {auto_prune: true, retention_days: 0}\nagent: {max_turns: 0}\n"
    )
    settings, left = imported(cli, home)
    assert settings == {"homes": [{"path": str(home)}]}
    assert set(left) == {
        "session_reset.mode", "session_reset.idle_minutes", "session_reset.at_hour",
        "sessions.retention_days", "agent.max_turns",
    }  # fmt: skip


def test_a_variable_of_endless_digits_is_told_and_not_taken(cli: Cli, home: Path) -> None:
    (home / ".env").write_text(f"SESSION_IDLE_MINUTES={'9' * 5_000}\n")
    settings, left = imported(cli, home)
    assert settings["reset"]["idle_minutes"] == 120
    assert left["SESSION_IDLE_MINUTES"]


def test_what_is_nested_as_deep_as_it_can_be_read_breaks_no_import(tmp_path: Path) -> None:
    depth = sys.getrecursionlimit() - len(inspect.stack(0)) - 100  # which are left to read it
    nested = "[" * depth + "]" * depth
    (tmp_path / "gateway.json").write_text(f'{{"reset_by_type": {{"dm": {nested}}}}}')
    said = read_configuration(tmp_path)
    assert "dm" in said.gateway.values["reset_by_type"]

    def deeper(more: int) -> Imported:
        return deeper(more - 1) if more else import_settings(said, {}, "UTC")

    assert deeper(95).rules == ()


def test_names_of_any_characters_are_read_back_as_they_are(cli: Cli, tmp_path: Path) -> None:
    odd = "\N{GRINNING FACE} \\ud83d \u2028\x85\x7f\n'\"é"
    home, file = tmp_path / odd, tmp_path / "sexton.yaml"
    home.mkdir()
    rules = {"reset_by_platform": {odd: {"mode": "idle", "idle_minutes": 5}}}
    (home / "gateway.json").write_text(json.dumps(rules))
    cli.ok("config", "import-hermes", str(home), "-o", str(file))
    assert problems(file, {}) == []
    settings = load(file, {})
    assert [each.path for each in settings.homes] == [home]
    assert [each.sources for each in settings.rulebook.reset_rules] == [(odd,)]


def test_without_a_name_the_only_home_is_meant(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("config", "import-hermes", "-o", "-").code == 50
    (home / "state.db").touch()
    monkeypatch.setenv("HERMES_HOME", str(home))
    assert 'mode: "both"  # session_reset.mode' in cli.ok("config", "import-hermes", "-o", "-")
