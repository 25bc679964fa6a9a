"""`sexton config` and `sexton ledger`: settings checked and shown, ledgers made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.surface.program import Cli

RULES = """\
reset:
  mode: idle
  idle_minutes: 60
  rules:
    - sources: [telegram]
      max_messages: 2
    - sources: [telegram]
      max_messages: 5
"""


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    """Settings with a rule that can never fire."""
    file = tmp_path / "sexton.yaml"
    file.write_text(RULES)
    return file


def test_every_mistake_is_told_at_once_with_its_place(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("reset:\n  mode: idel\n  idle_minutes: 0\n  at_huor: 3\n")
    answer = cli("config", "check", "--config", str(file))
    assert answer.code == 30
    for place in ("bad.yaml:2:", "bad.yaml:3:", "bad.yaml:4:", "at_hour"):
        assert place in answer.err
    program = cli("config", "check", "--json", "--config", str(file))
    assert program.code == 30
    assert [each["line"] for each in json.loads(program.out)["problems"]] == [2, 3, 4]
    assert program.error()["error"] == "SettingsInvalid"


def test_malformed_yaml_is_refused_by_every_command_that_reads_it(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("reset: [\n")
    cli.talk("a", "hello")
    for command in (["plan"], ["apply"], ["keep", "--once"], ["config", "check"], ["doctor"]):
        answer = cli(*command, "--config", str(file))
        assert answer.code == 30
        assert "bad.yaml:" in answer.err


def test_a_settings_file_that_is_missing_has_its_own_error(cli: Cli, tmp_path: Path) -> None:
    for command in (["config", "check"], ["config", "show"], ["plan"]):
        assert cli(*command, "--config", str(tmp_path / "none.yaml")).code == 31


def test_settings_without_mistakes_are_called_so_and_dead_rules_are_named(
    cli: Cli, settings: Path
) -> None:
    out = cli.ok("config", "check", "--config", str(settings))
    assert "no mistakes" in out
    assert "no effect" in out
    assert "reset.rules[0]" in out
    assert "the defaults are used" in cli.ok("config", "check")


def test_the_effect_of_every_rule_is_shown(any_cli: Cli, settings: Path) -> None:
    any_cli.talk("a", "1", "2", "3", "4", "5")
    any_cli.talk("b", "1")
    any_cli.talk("c", "1", source="slack")
    told = any_cli("config", "check", "--effect", "--json", "--config", str(settings)).json()
    effect = {each["where"]: each for each in told["effect"]}
    assert effect["reset"]["governs"] == 1
    assert effect["reset"]["next_due"].endswith("Z")
    assert effect["reset.rules[0]"]["governs"] == 0
    assert effect["reset.rules[1]"]["over"] == {"max_messages": 1}
    assert effect["reset.rules[1]"]["protects"] == 1
    assert told["inert"][0]["where"] == "reset.rules[0]"
    assert "1 max_messages" in any_cli.ok("config", "check", "--effect", "--config", str(settings))


def test_the_effect_of_every_class_of_retention_is_shown(any_cli: Cli, tmp_path: Path) -> None:
    any_cli.talk("a", "1", source="cron")
    any_cli.ok("sessions", "end", any_cli.talk("b", "1"), "--yes")
    file = tmp_path / "kept.yaml"
    file.write_text("retention: {classes: [{sources: [cron], on_reset: archive}]}")
    told = any_cli("config", "check", "--effect", "--json", "--config", str(file)).json()
    effect = {each["where"]: each for each in told["effect"]}
    assert (effect["retention"]["governs"], effect["retention"]["protects"]) == (1, 1)
    assert effect["retention.classes[0]"]["over"] == {"archive files": 1}
    shown = any_cli.ok("config", "check", "--effect", "--config", str(file))
    assert "1 archive files" in shown


def test_an_effect_needs_no_ledger(cli: Cli, settings: Path) -> None:
    answer = cli("config", "check", "--effect", "--config", str(settings))
    assert answer.code == 0
    assert "no session is affected" in answer.err
    assert not Path(cli.url).exists()


def test_settings_are_shown_with_their_places(
    cli: Cli, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEXTON_RESET__AT_HOUR", "5")
    out = cli.ok("config", "show", "--config", str(settings))
    assert f"{settings}:2:" in out
    assert "SEXTON_RESET__AT_HOUR" in out
    shown = cli("config", "show", "--json", "--config", str(settings)).json()
    assert shown["reset"]["at_hour"] == 5
    assert shown["reset"]["idle_minutes"] == 60


def test_the_settings_in_the_usual_place_are_found(cli: Cli, tmp_path: Path) -> None:
    usual = tmp_path / "settings" / "sexton"
    usual.mkdir(parents=True)
    (usual / "sexton.yaml").write_text("reset: {mode: daily}\n")
    assert cli("config", "show", "--json").json()["reset"]["mode"] == "daily"


def test_the_schema_describes_the_settings(cli: Cli) -> None:
    assert "reset" in json.loads(cli.ok("config", "schema"))["properties"]


def test_a_ledger_is_made_and_migrated(any_cli: Cli) -> None:
    told = any_cli("ledger", "migrate", "--json").json()
    assert told["schema"] >= 1
    assert "has schema" in any_cli.ok("ledger", "migrate")
    assert any_cli("sessions", "list", "--json").json() == []


def test_a_password_is_never_shown(cli: Cli) -> None:
    cli.url = "postgresql://someone:s3cret@127.0.0.1:1/none"
    answer = cli("sessions", "list")
    assert answer.code == 15
    assert "s3cret" not in answer.out + answer.err
