"""A Hermes home brings its own resets with it."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from sexton.core.session import Session
from sexton.errors import HomeUnreadable
from sexton.homes.hermes.inherited import OwnRules
from sexton.resets.policy import Mode, ResetPolicy
from sexton.rules.rulebook import decode

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
IDLE = "session_reset: {mode: idle}\n"
TOO_MUCH = {
    "deep lists": IDLE + "a: " + "[" * 200_000,
    "deep mappings": IDLE + "a: " + "{x: " * 200_000,
    "deep blocks": IDLE + "a:\n" + "- " * 200_000,
    "deep but closed": IDLE + "a: " + "[" * 101 + "]" * 101,
    "many values": IDLE + "a: [" + "x," * 200_000 + "]",
    "many directives": "".join(f"%TAG !{n}! x\n" for n in range(70_000)) + "---\n" + IDLE,
    "many merged entries": IDLE
    + "a: &a {" + ", ".join(f"x{n}: 1" for n in range(5_000)) + "}\n"
    + "b: [" + "{<<: *a}," * 5_000 + "]",
    "merged into itself": IDLE + "a: &a {<<: [*a, *a]}",
    "larger than is read": IDLE + "#" * 1_000_000,
}  # fmt: skip
MUCH = {
    "merged ten by ten": "a0: &a0 {x: 1}\n"
    + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}\n" for n in range(1, 10)),
    "names of one hash": "".join(f"{n * (2**61 - 1)}: x\n" for n in range(1, 30_000)),
    "a long number of base 60": "a: 1" + ":59" * 300_000 + "\n",
}


def policy(home: Path, source: str = "telegram", chat_type: str = "dm") -> ResetPolicy:
    """The policy that a conversation of the gateway comes under."""
    return policy_of(home, f"agent:main:{source}:{chat_type}:7", source, chat_type)


def policy_of(home: Path, key: str | None, source: str, chat_type: str | None) -> ResetPolicy:
    session = Session(
        ref=0, home="work", id="one", key=key, source=source, chat_type=chat_type,
        started_at=NOON, active_at=NOON,
    )  # fmt: skip
    return decode(OwnRules(home, "Europe/Berlin").text()).reset_policy(session)


def configure(home: Path, config: Any) -> None:
    (home / "config.yaml").write_text(yaml.safe_dump(config))


def mode_found_by_another_process(home: Path) -> str:
    """The mode of the gateway's rule, by a process that may crash or hang without hurting us."""
    code = (
        "import json, sys; from pathlib import Path; "
        "from sexton.homes.hermes.inherited import OwnRules; "
        "rules = json.loads(OwnRules(Path(sys.argv[1]), 'UTC').text()); "
        "print(rules['reset_rules'][0]['policy']['mode'])"
    )
    command = [sys.executable, "-c", code, str(home)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=240)
    return done.stdout.strip()


def test_a_home_without_configuration_never_resets(tmp_path: Path) -> None:
    assert policy(tmp_path).mode is Mode.NONE
    assert policy(tmp_path).max_messages is None


def test_what_the_api_server_began_ends_when_idle_whatever_the_gateway_does(
    tmp_path: Path,
) -> None:
    for config, minutes in (
        ({}, 1440),
        ({"session_reset": {"mode": "daily", "idle_minutes": 90}}, 90),
        ({"session_reset": {"mode": "none"}}, 1440),
    ):
        configure(tmp_path, config)
        asked = policy_of(tmp_path, None, "api_server", None)
        assert (asked.mode, asked.idle_minutes) == (Mode.IDLE, minutes)
        assert policy_of(tmp_path, None, "cli", None).mode is not Mode.IDLE


def test_the_homes_own_reset_is_inherited_in_the_machines_zone(tmp_path: Path) -> None:
    configure(tmp_path, {"session_reset": {"mode": "both", "idle_minutes": 90, "at_hour": 3}})
    found = policy(tmp_path)
    assert (found.mode, found.idle_minutes, found.at_hour) == (Mode.BOTH, 90, 3)
    assert found.timezone == "Europe/Berlin"
    assert (found.max_messages, found.max_bytes, found.max_age) == (None, None, None)


def test_only_conversations_of_the_gateway_are_reset(tmp_path: Path) -> None:
    configure(tmp_path, {"session_reset": {"mode": "idle"}})
    assert policy(tmp_path).mode is Mode.IDLE
    assert policy_of(tmp_path, None, "cli", None).mode is Mode.NONE


def test_the_nested_form_counts_only_where_the_top_level_is_silent(tmp_path: Path) -> None:
    nested = {"gateway": {"session_reset": {"mode": "daily"}}}
    configure(tmp_path, nested)
    assert policy(tmp_path).mode is Mode.DAILY
    configure(tmp_path, {**nested, "session_reset": None})
    assert policy(tmp_path).mode is Mode.NONE


def test_the_older_file_gives_platforms_and_types_and_yields_to_the_newer(tmp_path: Path) -> None:
    older = {
        "default_reset_policy": {"mode": "daily"},
        "reset_by_type": {"group": {"mode": "idle", "idle_minutes": 30}},
        "reset_by_platform": {"discord": {"mode": "none"}},
    }
    (tmp_path / "gateway.json").write_text(json.dumps(older))
    assert policy(tmp_path).mode is Mode.DAILY
    configure(tmp_path, {"session_reset": {"mode": "idle"}})
    assert policy(tmp_path).mode is Mode.IDLE
    assert policy(tmp_path).idle_minutes == 1440
    assert policy(tmp_path, "telegram", "group").idle_minutes == 30
    assert policy(tmp_path, "discord", "group").mode is Mode.NONE


@pytest.mark.parametrize(
    "reset",
    [
        "both",
        {"mode": "idel"},
        {"mode": ["idle"]},
        {"mode": None, "idle_minutes": "2h", "at_hour": True},
        {"idle_minutes": 0, "at_hour": 24},
        {"idle_minutes": float("nan"), "at_hour": -1},
        {7: "idle"},
    ],
)
def test_what_hermes_would_not_understand_counts_as_not_there(tmp_path: Path, reset: Any) -> None:
    configure(tmp_path, {"session_reset": reset})
    found = policy(tmp_path)
    assert (found.mode, found.idle_minutes, found.at_hour) == (Mode.NONE, 1440, 4)


@pytest.mark.parametrize("text", ["{", "a: b: c", "- just\n- a list", "at: 2026-99-99", "\x00", ""])
def test_a_broken_file_counts_as_not_there(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.yaml").write_text(text)
    (tmp_path / "gateway.json").write_text(text)
    assert policy(tmp_path).mode is Mode.NONE


@pytest.mark.parametrize("tagged", ["!!bool x", '!!int ""', '!!float ""', "!!timestamp x", "!no x"])
def test_a_value_that_is_not_what_its_tag_says_spoils_the_file(tmp_path: Path, tagged: str) -> None:
    (tmp_path / "config.yaml").write_text(f"{IDLE}a: {tagged}\n")
    assert policy(tmp_path).mode is Mode.NONE


@pytest.mark.parametrize("text", ["--- {}", "a: &x 1\nb: &x 2", "a: *x", "[a]: b", "<<: 7", "a: ["])
def test_what_hermes_could_not_load_spoils_the_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.yaml").write_text(f"{IDLE}{text}\n")
    assert policy(tmp_path).mode is Mode.NONE


@pytest.mark.parametrize("text", TOO_MUCH.values(), ids=TOO_MUCH)
def test_a_file_that_is_too_much_work_counts_as_not_there(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.yaml").write_text(text)
    assert mode_found_by_another_process(tmp_path) == "none"


@pytest.mark.parametrize("text", MUCH.values(), ids=MUCH)
def test_a_rule_is_found_in_a_file_that_only_looks_like_much_work(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "config.yaml").write_text(text + IDLE)
    assert mode_found_by_another_process(tmp_path) == "idle"


@pytest.mark.parametrize(
    "text",
    [
        "session_reset: {mode: idle, idle_minutes: 90, at_hour: 0x3}",
        "session_reset: {mode: idle, idle_minutes: 1:30, at_hour: !!int '3'}",
        "a: &a {mode: idle, idle_minutes: 90, at_hour: 3}\nsession_reset: *a",
        "a: &a {mode: idle, at_hour: 3}\nsession_reset: {<<: *a, idle_minutes: &m 90}",
        (
            "a: [&m 90, &a {mode: daily}, &b {mode: idle, at_hour: 5}, &c 3]\n"
            "session_reset: {idle_minutes: *m, at_hour: *c, <<: [*b, *a]}"
        ),
        "a: &a {session_reset: {mode: idle, idle_minutes: 90.5, at_hour: 3}}\n<<: *a",
    ],
)
def test_every_way_to_write_a_rule_is_read_as_hermes_reads_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.yaml").write_text(text)
    found = policy(tmp_path)
    assert (found.mode, found.idle_minutes, found.at_hour) == (Mode.IDLE, 90, 3)


def test_a_quoted_number_is_text(tmp_path: Path) -> None:
    configure(tmp_path, {"session_reset": {"mode": "idle", "idle_minutes": "120"}})
    assert policy(tmp_path).idle_minutes == 1440


def test_a_rule_without_a_known_name_still_replaces_the_older_file(tmp_path: Path) -> None:
    (tmp_path / "gateway.json").write_text('{"default_reset_policy": {"mode": "daily"}}')
    configure(tmp_path, {"session_reset": {7: "idle"}})
    assert policy(tmp_path).mode is Mode.NONE


def test_deep_nesting_counts_as_not_there(tmp_path: Path) -> None:
    (tmp_path / "gateway.json").write_text("[" * 100_000)
    assert policy(tmp_path).mode is Mode.NONE


def test_more_rules_than_a_gateway_can_have_count_as_not_there(tmp_path: Path) -> None:
    older: dict[str, Any] = {"default_reset_policy": {"mode": "idle"}}
    (tmp_path / "gateway.json").write_text(json.dumps(older))
    assert policy(tmp_path).mode is Mode.IDLE
    older["reset_by_type"] = {str(number): {"mode": "none"} for number in range(1_001)}
    (tmp_path / "gateway.json").write_text(json.dumps(older))
    assert policy(tmp_path).mode is Mode.NONE


def test_a_file_that_can_not_be_read_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").symlink_to(tmp_path / "config.yaml")
    with pytest.raises(HomeUnreadable, match=r"config\.yaml"):
        OwnRules(tmp_path, "UTC").text()


def test_a_change_of_the_file_is_noticed(tmp_path: Path) -> None:
    own = OwnRules(tmp_path, "UTC")
    before = own.text()
    configure(tmp_path, {"session_reset": {"mode": "idle"}})
    after = own.text()
    assert before != after == own.text()
