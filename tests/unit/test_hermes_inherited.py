"""A Hermes home brings its own resets with it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from sexton.errors import HomeUnreadable
from sexton.homes.hermes.inherited import OwnRules
from sexton.model.session import Session
from sexton.policies.reset import Mode, ResetPolicy
from sexton.policies.rulebook import decode

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


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


def test_a_home_without_configuration_never_resets(tmp_path: Path) -> None:
    assert policy(tmp_path).mode is Mode.NONE
    assert policy(tmp_path).max_messages is None


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


def test_deep_nesting_counts_as_not_there(tmp_path: Path) -> None:
    (tmp_path / "gateway.json").write_text("[" * 100_000)
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
