"""What ends a session ends the work of its subagents, in the real Hermes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sexton.spending.model import Act, Scope, Unit
from tests.scenario.fake_model import ANSWER, ToolUse
from tests.scenario.finalizers_scene import wait_until
from tests.scenario.hermes_exits import GOAL, rows
from tests.scenario.hermes_gateway import ALICE, HOME, conversations
from tests.scenario.hermes_lab import listen
from tests.scenario.hermes_spender import Spender, budget, spender, working

CALLS = 3


@pytest.fixture(scope="module")
def python(furnished_python: Path) -> Path:
    return furnished_python


@pytest.fixture
def home(python: Path, tmp_path: Path) -> Iterator[Spender]:
    with spender(python, tmp_path) as made:
        yield made


def is_of_child(messages: list[Any]) -> bool:
    """Whether a subagent asks."""
    return GOAL in json.dumps([each for each in messages if each["role"] == "user"])


def ends(home: Path) -> dict[str, set[str | None]]:
    """How the rows of Hermes ended, by source."""
    found: dict[str, set[str | None]] = {}
    for source, reason in rows(home).values():
        found.setdefault(source, set()).add(reason)
    return found


def changing(home: Path, place: Path) -> tuple[str, str]:
    """The option of a command that names settings by which the home may be changed."""
    settings = place / "sexton.yaml"
    settings.write_text(json.dumps({"homes": [{"path": str(home), "act": True}]}))
    return "--config", str(settings)


def test_a_subagent_of_a_job_that_a_person_ends_asks_nothing_more(
    home: Spender, tmp_path: Path
) -> None:
    config = changing(home.lab.home, tmp_path)
    asked = []

    def reply(messages: list[Any]) -> str | ToolUse:
        if not is_of_child(messages):
            return ToolUse("delegate_task", {"goal": GOAL})
        asked.append(messages)
        if len(asked) == CALLS:
            [parent] = [each for each in home.sessions() if each.source == "cron"]
            home.sexton("sessions", "end", parent.name, "--yes", "--force", *config)
        return working(messages)

    home.model.reply = reply
    home.run_job()
    assert len(asked) == CALLS
    assert len(home.model.asked) == CALLS + 1
    assert ends(home.lab.home) == {"cron": {"closed"}, "subagent": {"closed"}}
    assert {each.end_reason for each in home.sessions()} == {"closed"}


def test_a_subagent_in_the_background_ends_with_the_budget_of_its_session(home: Spender) -> None:
    reason = "budget:session.iterations"
    home.publish(budget(Scope.SESSION, Unit.ITERATIONS, CALLS, Act.KILL, ["cli"]))
    asked = []

    def reply(messages: list[Any]) -> str | ToolUse:
        if is_of_child(messages):
            asked.append(messages)
            wait_until(lambda: reason in home.codes("end"))
        elif not any(each["role"] == "tool" for each in messages):
            return ToolUse("delegate_task", {"goal": GOAL, "background": True})
        return working(messages)

    home.model.reply = reply
    with home.lab.terminal("--yolo") as terminal:
        terminal.wait_for("❯")
        terminal.type("Delegate it")
        listen(terminal, lambda: None not in ends(home.lab.home).get("subagent", {None}))
    assert len(asked) == 1
    assert ends(home.lab.home) == {"cli": {reason}, "subagent": {reason}}
    assert len(home.model.asked) == CALLS + 1


def test_a_subagent_of_a_chat_that_a_person_resets_asks_nothing_more(
    python: Path, tmp_path: Path
) -> None:
    with conversations(python, tmp_path, plugin=True) as home:
        person, asked = Spender(home.lab, home.model, home.ledger), []
        config = changing(home.lab.home, tmp_path)

        def reply(messages: list[Any]) -> str | ToolUse:
            if is_of_child(messages):
                asked.append(messages)
                if len(asked) == 1:
                    chat = f"{HOME}/{home.row_of(ALICE)}"
                    person.sexton("sessions", "reset", chat, "--force", *config)
                return working(messages)
            tools = any(each["role"] == "tool" for each in messages)
            return ANSWER if tools else ToolUse("delegate_task", {"goal": GOAL})

        home.model.reply = reply
        with home.gateway():
            home.say(ALICE, "Delegate it")
            wait_until(lambda: None not in ends(home.lab.home).get("subagent", {None}))
        assert len(asked) == 1
        assert ends(home.lab.home) == {"signal": {"session_reset"}, "subagent": {"reset"}}
