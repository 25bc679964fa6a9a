"""Do variables override settings, and are misspelt ones told?"""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from sexton.errors import SettingsInvalid
from sexton.finalizers.effects.command_effect import KEY_VARIABLE
from sexton.finalizers.effects.job_processes import VARIABLE
from sexton.processes.model import TAG_VARIABLE
from sexton.resets.policy import Mode
from sexton.settings.environment import VARIABLES
from sexton.settings.loader import has_overrides, load, problems
from sexton.settings.render import show
from sexton.settings.settings_values import Settings
from tests.golden import golden


def test_a_variable_wins_over_the_file_and_the_rest_stays(tmp_path: Path) -> None:
    file = tmp_path / "sexton.yaml"
    file.write_text("reset: {mode: daily, idle_minutes: 5}\nkeeper:\n")
    environ = {"SEXTON_RESET__MODE": "idle", "SEXTON_KEEPER__SWEEP_EVERY": "30s"}
    settings = load(file, environ)
    assert settings.rulebook.reset.mode is Mode.IDLE
    assert settings.rulebook.reset.idle_minutes == 5
    assert settings.keeper.sweep_every == timedelta(seconds=30)
    assert settings.places["reset.mode"] == "environment: SEXTON_RESET__MODE"
    assert settings.places["reset.idle_minutes"] == f"{file}:1:36"


def test_rules_inherit_what_a_variable_sets(tmp_path: Path) -> None:
    file = tmp_path / "sexton.yaml"
    file.write_text("reset: {rules: [{sources: [telegram], mode: idle}]}")
    (rule,) = load(file, {"SEXTON_RESET__IDLE_MINUTES": "7"}).rulebook.reset_rules
    assert rule.policy.idle_minutes == 7


def test_values_are_read_as_in_the_file() -> None:
    settings = load(
        None,
        {
            "SEXTON_RESET__MAX_MESSAGES": "null",
            "SEXTON_RESET__MAX_BYTES": "1MB",
            "SEXTON_LIVENESS__DIES_WITH_OWNER": "[cli, 'no']",
        },
    )
    assert settings.rulebook.reset.max_messages is None
    assert settings.rulebook.reset.max_bytes == 1_000_000
    assert settings.rulebook.liveness.dies_with_owner == ("cli", "no")


IN_FILE_ONLY = {
    *(("reset", "rules"), ("liveness", "inactivity_bound"), ("prices", "models")),
    *(("prices", "unknown"), ("retention", "classes")),
}


def test_every_setting_outside_of_lists_can_be_set_by_a_variable() -> None:
    environ = {
        f"SEXTON_{section}__{name}".upper(): json.dumps(value)
        for section, settings in yaml.safe_load(show(Settings())).items()
        if isinstance(settings, dict)
        for name, value in settings.items()
        if (section, name) not in IN_FILE_ONLY
    }
    settings = load(None, environ)
    assert settings == Settings()
    assert set(settings.places.values()) == {f"environment: {name}" for name in VARIABLES}


def test_beats_and_ttl_are_judged_by_what_is_in_force_after_the_environment(
    tmp_path: Path,
) -> None:
    file = tmp_path / "sexton.yaml"
    file.write_text("liveness: {beat_every: 5s}")
    assert load(file, {"SEXTON_LIVENESS__TTL": "10s"}).rulebook.liveness.ttl.seconds == 10
    (problem,) = problems(file, {"SEXTON_LIVENESS__TTL": "9s"})
    assert (problem.file, problem.where) == ("environment", "SEXTON_LIVENESS__TTL")
    file.write_text("liveness: {ttl: 30s}")
    (problem,) = problems(file, {"SEXTON_LIVENESS__BEAT_EVERY": "20s"})
    assert (problem.file, problem.line, problem.column) == (str(file), 1, 17)
    assert problem.where == "liveness.ttl"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SEXTON_RESET__MOD", "idle"),
        ("SEXTON_RESET_MODE", "idle"),
        ("SEXTON_IDLE_MINUTES", "9"),
        ("SEXTON_SWEEP_EVERY", "5s"),
        ("SEXTON_KEEPER_SWEEP", "5s"),
        ("SEXTON_GC_UNHEARD_OF", "5s"),
        ("SEXTON_LEGDER", "x"),
        ("SEXTON_X__Y__Z", "1"),
        ("SEXTON_RESET", "idle"),
        ("SEXTON_HOMES", "[]"),
        ("SEXTON_HOMES__0__PATH", "/a"),
        ("SEXTON_RESET__RULES", "[]"),
        ("SEXTON_LIVENESS__INACTIVITY_BOUND", "{telegram: 7d}"),
        ("SEXTON_LIVENESS__BEAT_EVERY", "60s"),
        ("SEXTON_FINALIZERS__TIMEOUT", "5s"),
        ("SEXTON_RESET__MAX_AGE", ""),
        ("SEXTON_RESET__AT_HOUR", "24"),
        ("SEXTON_RESET__MODE", "'idle"),
        ("SEXTON_RESET__MODE", "!x idle"),
        ("SEXTON_RESET__MODE", "idle\udcff"),
        ("SEXTON_RESET__MODE", "x" * 300_000),
        ("SEXTON_LIVENESS__DIES_WITH_OWNER", "cli, cron"),
        ("SEXTON_LIVENESS__DIES_WITH_OWNER", "[cli, 1]"),
    ],
)
def test_a_variable_that_can_not_be_meant_like_that_is_told(name: str, value: str) -> None:
    (problem,) = problems(None, {name: value})
    assert (problem.file, problem.where) == ("environment", name)
    golden("settings", f"variable: {name}={value[:20]!a}", problem.message)


@pytest.mark.parametrize(
    "name",
    [
        *("SEXTON_LEDGER", "SEXTON_CONFIG", "SEXTON_TOKEN"),
        *(TAG_VARIABLE, VARIABLE, KEY_VARIABLE),
    ],
)
def test_the_variables_of_the_command_line_and_of_started_programs_override_nothing(
    name: str,
) -> None:
    assert not has_overrides({name: "x"})
    assert load(None, {name: "x"}) == Settings()


def test_a_variable_of_somebody_else_is_left_alone() -> None:
    assert load(None, {"SEXTON_BENCH_SEED": "1", "OTHER": "2"}) == Settings()


def test_what_kubernetes_says_of_a_service_that_is_called_like_us_is_no_setting() -> None:
    service = {"SEXTON_SERVICE_HOST": "::1", "SEXTON_SERVICE_PORT": "80"}
    port = {"SEXTON_PORT": "tcp://[::1]:80", "SEXTON_PORT_80_TCP": "tcp://[::1]:80"}
    assert load(None, service | port) == Settings()


def test_a_misspelt_variable_makes_the_loader_look() -> None:
    assert has_overrides({"SEXTON_RESET_MODE": "idle"})
    assert not has_overrides({"HOME": "/root", "MY_SEXTON_RESET__MODE": "idle"})


def test_a_broken_file_is_told_even_where_a_variable_would_hide_it(tmp_path: Path) -> None:
    file = tmp_path / "sexton.yaml"
    file.write_text("reset: {mode: idel}")
    environ = {"SEXTON_RESET__MODE": "idle", "SEXTON_RESET__MOD": "idle"}
    with pytest.raises(SettingsInvalid) as caught:
        load(file, environ)
    assert len(str(caught.value).splitlines()) == 2


def test_defaults_cost_neither_pydantic_nor_yaml() -> None:
    code = (
        "import sys; from sexton.settings.settings_values import Settings, has_overrides\n"
        "Settings();"
        "sys.exit(any(name in sys.modules for name in ('pydantic', 'yaml')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
