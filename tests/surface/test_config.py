"""`sexton config` and `sexton ledger`: settings checked and shown, ledgers made."""

from __future__ import annotations

import json
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sexton.homes.home_ports import Sighting
from sexton.processes.model import Doing, Figures
from sexton.processes.process_table import tags_of
from sexton.rules.rulebook import Rulebook, encode
from tests.golden import golden
from tests.scenario.hermes_home import HermesScene
from tests.scenario.hermes_house import make_older
from tests.scenario.process_programs import WAIT, eventually
from tests.scenario.test_hermes_ending import gateway
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
    golden("config", "check, three mistakes", answer.err)
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
    told = cli("config", "check", "--json", "--config", str(settings)).json()
    assert (told["problems"], [each["where"] for each in told["inert"]]) == ([], ["reset.rules[0]"])
    out = cli.ok("config", "check", "--config", str(settings))
    golden("config", "check, a rule without effect", out)
    golden("config", "check, no settings", cli.ok("config", "check"))


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
    shown = any_cli.ok("config", "check", "--effect", "--config", str(settings))
    golden("config", "check, the effect of rules", shown)


def test_what_a_pin_or_a_running_turn_holds_back_does_not_end_now(any_cli: Cli, short: str) -> None:
    any_cli.ok("sessions", "pin", any_cli.talk("pinned", "1", "2", "3"))
    any_cli.talk("over", "1", "2", "3")
    asked = ("config", "check", "--effect", "--config", short)
    with any_cli.opened() as opened, opened.worker() as worker:
        session = worker.session("busy", source="telegram")
        for text in ("1", "2", "3"):
            session.append(role="user", content=text)
        with session.turn():
            default, *_ = any_cli(*asked, "--json").json()["effect"]
            shown = any_cli.ok(*asked)
    assert default["held"] == {"busy": 1, "pinned": 1}
    assert (default["over"], default["protects"]) == ({"max_messages": 1}, 2)
    golden("config", "check, held back", shown)


@pytest.mark.usefixtures("still")
def test_a_process_that_works_holds_back_what_a_rule_would_end(cli: Cli, short: str) -> None:
    with cli.opened() as opened, opened.worker() as worker:
        session = worker.session("chat", source="telegram")
        for text in ("1", "2", "3"):
            session.append(role="user", content=text)
        child = session.spawn([sys.executable, "-c", WAIT])
        try:
            assert eventually(lambda: tags_of(child.pid) == (child.tag,))
            (process,) = opened.ledger.registry.running()
            works = (process.ref, Doing.WORKING, Figures(seconds=60, cpu=30, processes=1))
            opened.ledger.registry.judge([works], opened.clock.now())
            told = cli("config", "check", "--effect", "--json", "--config", short).json()
        finally:
            child.popen.kill()
            child.popen.wait()
            child.close()
    default = told["effect"][0]
    assert (default["over"], default["held"], default["protects"]) == ({}, {"process": 1}, 1)


def test_a_budget_that_selects_nothing_says_so(cli: Cli, tmp_path: Path) -> None:
    cli.talk("a", "1")
    file = tmp_path / "bounded.yaml"
    file.write_text("budgets: [{scope: session, tokens: 9, sources: [nosuch]}]")
    told = cli("config", "check", "--effect", "--json", "--config", str(file)).json()["effect"]
    governs = {each["where"]: each["governs"] for each in told}
    assert governs["budgets[session.tokens@nosuch]"] == 0
    assert governs["budgets[turn.iterations]"] == 1


@pytest.fixture
def talking(scene: HermesScene) -> HermesScene:
    """A home whose own rules say that one of its two conversations is over."""
    (scene.path / "config.yaml").write_text("session_reset: {mode: idle, idle_minutes: 60}")
    for number, id in enumerate(("old", "new")):
        scene.start(id, "telegram", session_key=f"agent:main:telegram:dm:{number}")
        scene.say(id, "Good morning")
        scene.ask("append_message", id, "assistant", "Good morning to you, too.")
    make_older(scene, timedelta(minutes=70), "old")
    scene.close()
    return scene


def rule_of_home(cli: Cli) -> dict[str, Any]:
    """What the rule for conversations of the only home does."""
    told = cli("config", "check", "--effect", "--json").json()["effect"]
    effect: dict[str, dict[str, Any]] = {each["where"]: each for each in told}
    assert effect["reset"]["governs"] == effect["homes[hermes] reset"]["governs"] == 0
    return effect["homes[hermes] reset.rules[0]"]


def test_the_rules_that_a_home_brings_along_are_shown_by_its_name(
    any_cli: Cli, talking: HermesScene
) -> None:
    any_cli.ok("plan", "--home", str(talking.path))
    rule = rule_of_home(any_cli)
    assert (rule["governs"], rule["over"], rule["protects"]) == (2, {"idle": 1}, 1)
    assert "homes[hermes] reset.rules[0]" in any_cli.ok("config", "check", "--effect")


def test_what_a_running_gateway_resets_by_itself_is_held_back(
    cli: Cli, talking: HermesScene
) -> None:
    cli.ok("plan", "--home", str(talking.path))
    with gateway(talking):
        rule = rule_of_home(cli)
    assert (rule["over"], rule["held"], rule["protects"]) == ({}, {"own_reset": 1}, 2)


def test_a_home_that_is_not_there_any_more_is_told_of_and_its_rules_are_shown(
    cli: Cli, talking: HermesScene, tmp_path: Path
) -> None:
    cli.ok("plan", "--home", str(talking.path))
    talking.path.rename(tmp_path / "moved")
    with cli.opened() as opened:
        far = opened.ledger.homes.attach("far", "hermes", "/home", "another", act=False)
        opened.ledger.homes.store(far, Sighting(mark={}), encode(Rulebook()), opened.clock.now())
        opened.ledger.homes.attach("ruleless", "hermes", "/other", "another", act=False)
    answer = cli("config", "check", "--effect")
    assert [name in answer.err for name in ("hermes: ", "far: ", "ruleless")] == [True, True, False]
    assert "ruleless" not in answer.out
    golden("config", "check, homes that cannot be asked", answer.err)
    assert rule_of_home(cli)["governs"] == 2


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
    golden("config", "check, classes of retention", shown)


def test_an_effect_needs_no_ledger(cli: Cli, settings: Path) -> None:
    answer = cli("config", "check", "--effect", "--config", str(settings))
    assert answer.code == 0
    golden("config", "check, no ledger", answer.err)
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
    assert str(told["schema"]) in any_cli.ok("ledger", "migrate")
    assert any_cli("sessions", "list", "--json").items() == []


def test_a_password_is_never_shown(cli: Cli) -> None:
    cli.url = "postgresql://someone:s3cret@127.0.0.1:1/none"
    answer = cli("sessions", "list")
    assert answer.code == 15
    assert "s3cret" not in answer.out + answer.err
