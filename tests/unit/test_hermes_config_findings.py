"""What is found in the configuration of a Hermes home, and what is left in peace?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sexton.homes.hermes import yaml_document
from sexton.homes.hermes.config_files import read_configuration
from sexton.homes.hermes.dotenv import variables
from sexton.homes.hermes.findings.all import config_findings
from sexton.homes.hermes.findings.finding import Finding, Names
from sexton.homes.hermes.inherited import MOST_RULES
from tests.golden import golden

SCHEMA = 22


@dataclass
class Known:
    """An installed Hermes that knows some settings."""

    sections: Mapping[str, frozenset[str]] = field(default_factory=dict)
    words: frozenset[str] = frozenset()

    def mentions(self, word: str) -> bool:
        return word in self.words


def found(
    home: Path,
    config: str = "",
    *,
    gateway: object = None,
    dotenv: str = "",
    known: Known | None = None,
    schema: int = SCHEMA,
) -> tuple[Finding, ...]:
    """The findings in a home with these files."""
    (home / "config.yaml").write_text(config)
    (home / ".env").write_text(dotenv)
    if gateway is not None:
        (home / "gateway.json").write_text(json.dumps(gateway))
    names = Names(home="work", path=home)
    return config_findings(read_configuration(home), schema, known, names)


@pytest.mark.parametrize(
    ("config", "code", "level", "line"),
    [
        ("session_reset:\n  mode: both\n  idle_minutes: '120'\n", "idle_minutes", "grave", 3),
        ("session_reset:\n  idle_minutes: 2h\n  mode: idle\n", "idle_minutes", "grave", 2),
        ("session_reset: {mode: daily, at_hour: '4'}\n", "at_hour", "grave", 1),
        ("session_reset: {mode: daily, at_hour: 24}\n", "at_hour", "costly", 1),
        ("session_reset: {mode: idle, idle_minutes: 0}\n", "idle_minutes", "costly", 1),
        ("session_reset: {mode: idle, idle_minutes: -5}\n", "idle_minutes", "costly", 1),
        ("a: 1\nsession_reset:\n  mode: idel\n", "mode", "costly", 3),
        ("session_reset: both\n", "not_a_mapping", "costly", 1),
        ("session_reset: {mode: idle}\nagent: {a: 1}\nsession_reset:\n  mode: both\n",
         "repeated", "costly", 3),
        ("agent:\n  max_turns: 3\n  max_turns: 30\n", "repeated", "costly", 3),
        ("SESSION_IDLE_MINUTES: 0\n", "session_idle_minutes", "costly", 1),
        ("agent:\n  session_token_hard_stop: 50000\n", "inert", "costly", 2),
        ("session_token_hard_stop: 50000\n", "inert", "costly", 1),
        ("session_reset:\n  bg_process_max_age_hours: x\n", "bg_process_max_age_hours", "grave", 2),
        ("session_reset:\n  mode: idle\n  idle_minuts: 3\n", "misspelt", "costly", 3),
        ("session_reset:\n  idle_minutes: 30\n", "inert", "hint", 2),
        ("session_reset: {notify_exclude_platforms: webhook}", "notify_exclude_platforms",
         "costly", 1),
        ("session_reset: {notify_exclude_platforms: 7}", "notify_exclude_platforms", "grave", 1),
        ("gateway:\n  session_reset:\n    mode: idel\n", "mode", "costly", 3),
        ("reset_by_platform:\n  telegram: {mode: idle}\n", "inert", "hint", 1),
        ("gateway:\n  session_store_max_age_days: 3\n", "inert", "hint", 2),
        ("sessions:\n  auto_prune: true\n  retention_days: 0\n", "retention_days", "grave", 3),
        ("sessions:\n  retention_days: -1\n", "retention_days", "grave", 2),
        ("sessions:\n  retention_days: abc\n", "retention_days", "costly", 2),
        ("sessions:\n  auto_prune: 'false'\n", "auto_prune", "grave", 2),
        ("sessions:\n  min_interval_hours: daily\n", "min_interval_hours", "costly", 2),
        ("sessions: 90\n", "sessions", "costly", 1),
        ("fallback_providers: openrouter\n", "fallback_providers", "costly", 1),
        ("fallback_providers:\n  - openrouter\n", "fallback_providers", "costly", 2),
        ("fallback_providers:\n  - provider: a\n    model: b\n  - provider: c\n",
         "fallback_providers", "costly", 4),
        ("fallback_model: gpt\n", "fallback_model", "costly", 1),
        ("model: a\n  b: c: d\n", "unreadable", "grave", 2),
        ("- a\n- b\n", "unreadable", "grave", 1),
    ],
)  # fmt: skip
def test_a_mistake_is_found_on_its_line(
    tmp_path: Path, config: str, code: str, level: str, line: int
) -> None:
    (only,) = found(tmp_path, config)
    assert (only.code, only.level, only.where) == (
        f"config.{code}", level, f"{tmp_path}/config.yaml:{line}",
    )  # fmt: skip
    assert only.cost
    assert only.repair.startswith((f"HERMES_HOME={tmp_path} hermes ", "edit "))


@pytest.mark.parametrize(
    "config",
    [
        "",
        "{}",
        "model: x\nsession_reset: {mode: both, idle_minutes: 120, at_hour: 6}\n",
        "session_reset: {mode: none, idle_minutes: 1440, at_hour: 4}\n",
        "session_reset:\n",
        "session_reset: {idle_minutes: null, mode: null}\n",
        "session_reset: {mode: idle, idle_minutes: 90.5}\n",
        "sessions: {auto_prune: true, retention_days: 90}\n",
        "sessions: {auto_prune: true, retention_days: '30'}\n",
        "fallback_providers: []\n",
        "fallback_providers: {provider: a, model: b}\n",
        "fallback_model: {provider: a, model: b}\n",
        "TELEGRAM_HOME_CHANNEL: '12'\nmy_skill_token: abc\nsession: 3\n_note: x\n",
        "platforms: {api_server: {enabled: false}}\n",
    ],
)
def test_valid_files_are_left_in_peace(tmp_path: Path, config: str) -> None:
    assert found(tmp_path, config) == ()


def test_where_no_mode_means_both_clocks_their_times_are_left_in_peace(tmp_path: Path) -> None:
    assert found(tmp_path, "session_reset: {idle_minutes: 30}\n", schema=17) == ()
    (only,) = found(tmp_path, "session_reset: {idle_minutes: 30}\n", schema=19)
    assert only.code == "config.inert"
    assert only.repair.endswith("hermes config set session_reset.mode idle")


def test_the_repair_of_a_text_is_the_number_it_means(tmp_path: Path) -> None:
    (only,) = found(tmp_path, "session_reset: {mode: idle, idle_minutes: 2h}\n")
    assert only.repair.endswith("hermes config set session_reset.idle_minutes 120")


@pytest.mark.parametrize("unit", ["", "h", "min"])
def test_a_number_too_long_to_be_meant_is_mended_by_the_usual_one(
    tmp_path: Path, unit: str
) -> None:
    endless = "9" * 5_000 + unit
    (only,) = found(tmp_path, f"session_reset: {{mode: idle, idle_minutes: '{endless}'}}\n")
    assert only.code == "config.idle_minutes"
    assert only.repair.endswith("hermes config set session_reset.idle_minutes 1440")


def test_an_unknown_name_is_only_asked_about_and_only_if_hermes_never_reads_it(
    tmp_path: Path,
) -> None:
    config = "sesion_reset: {mode: idle}\ntoolset: [a]\ndisplai: {}\nwhatever: 1\n"
    known = Known({"display": frozenset(), "toolsets": frozenset()}, frozenset({"toolset"}))
    asked = found(tmp_path, config, known=known)
    nested = found(tmp_path, "sessions: {retention_day: 3}\n")
    assert [each.level for each in (*asked, *nested)] == ["hint"] * 3
    golden("findings", "unknown names", "\n".join(each.words for each in (*asked, *nested)))


def test_the_older_file_is_checked_as_hermes_uses_it(tmp_path: Path) -> None:
    gateway = {
        "default_reset_policy": {"mode": "idle", "idle_minutes": "60"},
        "reset_by_platform": {"telegram": {"mode": "idle", "idle_minutes": 0}},
    }
    told = found(tmp_path, gateway=gateway)
    assert [(each.code, each.level, each.where) for each in told] == [
        ("config.idle_minutes", "grave", f"{tmp_path}/gateway.json"),
        ("config.idle_minutes", "grave", f"{tmp_path}/gateway.json"),
    ]
    golden("findings", "a conversation of no minutes", told[1].cost)


@pytest.mark.parametrize(
    ("dotenv", "line"),
    [
        ("API_SERVER_ENABLED=true\n", ""),
        ("A=1\nexport API_SERVER_KEY='changeme'\n", ":2"),
        ("API_SERVER_KEY=short # not long enough to be one\n", ":1"),
    ],
)
def test_a_weak_api_key_is_told_with_the_homes_own_file_and_never_shown(
    tmp_path: Path, dotenv: str, line: str
) -> None:
    (only,) = found(tmp_path, dotenv=dotenv)
    assert (only.code, only.where) == ("config.api_server_key", f"{tmp_path}/.env{line}")
    assert str(tmp_path / ".env") in only.repair
    assert "changeme" not in str(only)
    assert "short #" not in str(only)


def test_a_strong_api_key_is_left_in_peace(tmp_path: Path) -> None:
    assert found(tmp_path, dotenv=f"API_SERVER_ENABLED=1\nAPI_SERVER_KEY={'k7' * 16}\n") == ()
    server = f"platforms: {{api_server: {{enabled: true, extra: {{key: {'k7' * 16}}}}}}}\n"
    assert found(tmp_path, server) == ()


@pytest.mark.parametrize(
    ("setting", "codes"),
    [
        ("session_reset: *a40", ["not_a_mapping"]),
        ("session_reset: {mode: *a40}", ["mode"]),
        ("session_reset: {mode: idle, idle_minutes: *a40}", ["idle_minutes"]),
        ("fallback_model: {provider: *a40, model: *a40}", []),
        ("platforms: {api_server: {extra: {key: *a40}}}", ["api_server_key"]),
    ],
)
def test_aliases_that_double_themselves_are_no_more_than_a_value_of_the_wrong_kind(
    tmp_path: Path, setting: str, codes: list[str]
) -> None:
    doubled = "".join(f"x{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 41))
    told = found(tmp_path, f"x0: &a0 [1]\n{doubled}{setting}\n")
    assert [each.code for each in told] == [f"config.{code}" for code in codes]
    assert all(len(each.words + each.repair) < 1_000 for each in told)


@pytest.mark.parametrize(
    ("policy", "untold"), [({"mode": "idel"}, 0), ({"mode": "idel", "at_hour": 99}, 998)]
)
def test_of_the_older_file_so_much_is_told_as_a_gateway_can_have_rules_and_how_much_is_not(
    tmp_path: Path, policy: dict[str, object], untold: int
) -> None:
    gateway = {"reset_by_platform": dict.fromkeys(map(str, range(1_500)), policy)}
    told = found(tmp_path, gateway=gateway)
    assert 0 < len(told) <= MOST_RULES + 1
    golden("findings", f"{untold} mistakes are not told", told[-1].words)
    assert not [
        each.code
        for each in found(tmp_path, gateway={"reset_by_type": {"dm": policy}})
        if each.code == "config.many"
    ]


def test_a_variable_that_is_no_number_is_told(tmp_path: Path) -> None:
    told = found(tmp_path, dotenv="SESSION_IDLE_MINUTES=2h\nSESSION_RESET_HOUR=5\n")
    assert [(each.code, each.where) for each in told] == [
        ("config.session_idle_minutes", f"{tmp_path}/.env:1")
    ]


@pytest.mark.parametrize(("minutes", "hour"), [("0", "24"), ("-5", "-1")])
def test_a_variable_that_can_not_be_meant_is_told_and_one_that_can_is_not(
    tmp_path: Path, minutes: str, hour: str
) -> None:
    dotenv = f"SESSION_IDLE_MINUTES={minutes}\nSESSION_RESET_HOUR={hour}\n"
    told = found(tmp_path, dotenv=dotenv)
    assert [(each.code, each.where) for each in told] == [
        ("config.session_idle_minutes", f"{tmp_path}/.env:1"),
        ("config.session_reset_hour", f"{tmp_path}/.env:2"),
    ]
    assert found(tmp_path, dotenv="SESSION_IDLE_MINUTES=10080\nSESSION_RESET_HOUR=0\n") == ()
    assert found(tmp_path, dotenv="SESSION_IDLE_MINUTES=\n") == ()


def test_a_setting_that_the_installed_hermes_reads_is_not_inert(tmp_path: Path) -> None:
    known = Known(words=frozenset({"session_token_hard_stop"}))
    assert found(tmp_path, "session_token_hard_stop: 5\n", known=known) == ()


def test_where_hermes_has_no_resets_any_more_that_is_told(tmp_path: Path) -> None:
    (only,) = found(tmp_path, "session_reset: {mode: both}\n", schema=30)
    assert only.code == "config.resets_removed"


def test_variables_are_read_as_a_shell_would() -> None:
    text = "# A=0\nA=1\nexport B = 'x # y'\nC=\"q\"z\nD=v # note\nA=2\nnothing\n"
    read = {name: each.value for name, each in variables(text).items()}
    assert read == {"A": "2", "B": "x # y", "C": "q", "D": "v"}


def test_lines_are_those_of_names_and_of_items() -> None:
    text = "a: 1\nb:\n  c: [1,\n    2]\n  d: &x {e: 3}\nf: *x\n? g\n: h\n"
    _, lines, twice = yaml_document.located(text)
    assert twice == ()
    assert lines == {
        ("a",): 1, ("b",): 2, ("b", "c"): 3, ("b", "c", 0): 3, ("b", "c", 1): 4, ("b", "d"): 5,
        ("b", "d", "e"): 5, ("f",): 6, ("g",): 7,
    }  # fmt: skip


PLUGIN = "plugins: {enabled: [sexton]}\n"


@pytest.mark.parametrize(
    ("config", "line"),
    [
        ("model:\n  provider: openai\n  openai_runtime: codex_app_server\n", 4),
        ("model:\n  openai_runtime: Codex_App_Server\n", 3),
        ("model:\n  provider: custom\n  api_mode: codex_app_server\n", 4),
        ("providers:\n  mine:\n    transport: codex_app_server\n", 4),
        ("custom_providers:\n  - name: mine\n    api_mode: codex_app_server\n", 4),
    ],
)
def test_a_home_with_the_plugin_that_hands_turns_to_codex_is_told_of_it(
    tmp_path: Path, config: str, line: int
) -> None:
    (only,) = found(tmp_path, PLUGIN + config)
    assert (only.code, only.level, only.where) == (
        "budgets.unguarded", "costly", f"{tmp_path}/config.yaml:{line}",
    )  # fmt: skip
    golden("findings", f"turns of Codex by {only.words.split()[0]}", only.words)
    assert only.repair.startswith((f"HERMES_HOME={tmp_path} hermes ", "edit "))
    assert found(tmp_path, config) == (), "without the plugin nothing is promised"


@pytest.mark.parametrize(
    "config",
    [
        "model: {provider: openai, openai_runtime: auto}\n",
        "model: {provider: anthropic, openai_runtime: codex_app_server}\n",
        "model: codex_app_server\n",
        "providers: codex_app_server\ncustom_providers: {a: {api_mode: codex_app_server}}\n",
    ],
)
def test_a_home_that_hands_no_turn_to_codex_is_left_in_peace(tmp_path: Path, config: str) -> None:
    assert found(tmp_path, PLUGIN + config) == ()
