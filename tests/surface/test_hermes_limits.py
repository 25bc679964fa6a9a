"""The limits of a home's conversations as its settings say them, `null` included."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.scenario.hermes_home import HermesScene
from tests.surface.program import Cli

TALK = "agent:main:telegram:dm:7"


@pytest.fixture
def chat(scene: HermesScene) -> Path:
    """A home with a chat of 20 messages, which no gateway serves."""
    scene.start("talk", "telegram", session_key=TALK)
    for number in range(20):
        scene.say("talk", f"word {number}")
    scene.close()
    return scene.path


def asked(home: Path, **limits: Any) -> tuple[str, ...]:
    """The options with which the home has those limits."""
    file = home.parent / "sexton.yaml"
    file.write_text(yaml.safe_dump({"homes": [{"path": str(home), "act": True, **limits}]}))
    return "--json", "--config", str(file)


@pytest.mark.parametrize(
    ("limits", "reasons"),
    [
        ({"max_messages": 20, "max_bytes": None}, ["max_messages"]),
        ({"max_messages": None, "max_bytes": 50}, ["max_bytes"]),
        ({"max_messages": None, "max_bytes": None}, []),
        ({"max_messages": 23, "max_bytes": None}, ["near_max_messages"]),
    ],
    ids=["messages", "bytes", "null", "near"],
)
def test_a_limit_ends_warns_or_is_none(
    cli: Cli, chat: Path, limits: dict[str, int | None], reasons: list[str]
) -> None:
    plan = cli("plan", *asked(chat, **limits)).json()
    assert [each["reason"]["code"] for each in plan["actions"]] == reasons
    told = cli("why", "hermes/talk", *asked(chat, **limits)).json()["answers"]
    shown = {each["question"] for each in told} & {"reset.max_messages", "reset.max_bytes"}
    assert shown == {f"reset.{name}" for name, limit in limits.items() if limit is not None}


@pytest.mark.parametrize("limit", [0, -1, "many", 1.5, True])
def test_what_is_no_limit_is_refused_before_anything_is_done(
    cli: Cli, chat: Path, limit: Any
) -> None:
    answer = cli("plan", *asked(chat, max_messages=limit))
    assert 30 <= answer.code < 40
