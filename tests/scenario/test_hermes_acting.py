"""Budgets, operators and limits end conversations of a real gateway; the next message goes on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from sexton.core.session import Session
from sexton.finalizers.policy import Owing
from sexton.rules.rulebook import Rulebook
from sexton.settings.settings_values import Settings
from sexton.spending.model import Act, Budget, Scope, Unit
from sexton.spending.policy import SpendRules
from sexton.store.opening import open_ledger
from sexton.wiring import Sexton
from tests.scenario.fake_model import ANSWER, ToolUse
from tests.scenario.finalizers_scene import wait_until
from tests.scenario.hermes_gateway import ALICE, HOME, OWNER, Conversations, conversations
from tests.surface.program import Cli

BUSY = ToolUse("terminal", {"command": "true"})
SETTLING = "Answer me now"
"""What somebody writes to whom the model is to answer without a tool."""


def eager(messages: list[Any]) -> str | ToolUse:
    """A model that calls tools for ever, unless it is told to answer."""
    [*_, last] = [str(each["content"]) for each in messages if each["role"] == "user"]
    return ANSWER if SETTLING in last else BUSY


def bound(home: Conversations, action: Act) -> None:
    """Two calls of the model for a session, and work to be done when it has ended."""
    budget = Budget(name="calls", scope=Scope.SESSION, unit=Unit.ITERATIONS, limit=2, action=action)
    rules = Rulebook(
        spend=SpendRules(budgets=(budget,)), finalizers=(Owing(name="notes", min_messages=1),)
    )
    with Sexton(open_ledger(home.ledger), Settings(rulebook=rules)) as house:
        house.publish()


def jobs(home: Conversations) -> dict[str, str]:
    """The work that is owed, by session."""
    with closing(open_ledger(home.ledger)) as opened:
        tally = [name for name, _ in opened.finalizing.tally()]
    return dict.fromkeys(tally, "owed")


def session(home: Conversations, id: str) -> Session:
    """What the ledger knows of a session of the home."""
    return next(each for each in home.sessions() if each.id == id)


@pytest.fixture
def inside(furnished_python: Path, tmp_path: Path) -> Iterator[Conversations]:
    """A home whose Hermes has the plugin."""
    with conversations(furnished_python, tmp_path, plugin=True) as home:
        yield home


@pytest.fixture
def outside(hermes_python: Path, tmp_path: Path) -> Iterator[Conversations]:
    """A home whose Hermes knows nothing of Sexton."""
    with conversations(hermes_python, tmp_path) as home:
        yield home


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Cli:
    return Cli(capsys, f"sqlite:///{tmp_path / 'ledger.db'}")


def settings(home: Conversations, **chosen: Any) -> tuple[str, str]:
    """The options of a command that may change the home, unless it is told otherwise."""
    said = {"path": str(home.lab.home), "name": HOME, "act": True, **chosen}
    file = home.lab.home.parent / "sexton.yaml"
    file.write_text(yaml.safe_dump({"homes": [said]}))
    return "--config", str(file)


@pytest.mark.parametrize("action", [Act.KILL, Act.RESET])
def test_a_budget_ends_a_conversation_and_its_next_message_begins_another_one(
    inside: Conversations, action: Act
) -> None:
    bound(inside, action)
    inside.model.reply = eager
    with inside.gateway():
        assert inside.say(ALICE, "Go on for ever").count("[sexton]") == 1
        assert len(inside.model.asked) == 2
        [left] = inside.sessions()
        assert inside.rows()[left.id] == ("session_reset",)
        assert (left.is_open, left.end_reason, left.holders) == (False, "budget:calls", ())
        assert jobs(inside) == {"notes": "owed"}
        assert ANSWER in inside.say(ALICE, SETTLING)
        assert inside.row_of(ALICE) != left.id
        assert "Go on for ever" not in str(inside.model.asked[-1])
    with inside.sexton() as house:
        house.sweep()
    assert session(inside, left.id).end_reason == "budget:calls", "the row says less"


def test_a_killed_question_of_the_command_line_has_its_reason_in_hermess_row(
    inside: Conversations,
) -> None:
    bound(inside, Act.KILL)
    inside.model.reply = eager
    assert "[sexton]" in inside.lab.ask("Go on for ever", "--yolo")
    [left] = inside.sessions()
    assert inside.rows() == {left.id: ("budget:calls",)}
    assert (left.end_reason, left.holders) == ("budget:calls", ())


def test_an_operator_ends_a_turn_at_its_next_call(inside: Conversations, cli: Cli) -> None:
    inside.model.reply = eager
    config = settings(inside)
    with inside.gateway():
        inside.model.hold_from(2)
        stamp = inside.signal.write(ALICE, "Go on for ever")
        wait_until(lambda: len(inside.model.asked) == 2)
        [running] = inside.sessions()
        refused = cli("sessions", "end", running.name, "--yes", *config)
        assert refused.code != 0, "a turn runs"
        cli.ok("sessions", "end", running.name, "--yes", "--force", *config)
        assert session(inside, running.id).end_reason == "closed"
        inside.model.go_on()
        inside.signal.wait_for_turn(stamp, 0)
        assert len(inside.model.asked) == 2, "nobody asked the model again"
        assert ["[sexton]" in each for each in inside.signal.to(ALICE)] == [True], "once"
        assert ANSWER in inside.say(ALICE, SETTLING)
        assert inside.row_of(ALICE) != running.id


@pytest.mark.parametrize(
    "verb",
    [("end", "--yes"), ("end", "--yes", "--reason", "abandoned"), ("reset",)],
    ids=["end", "end in other words", "reset"],
)
def test_a_terminal_whose_session_an_operator_ended_is_told_so_and_begins_another_one(
    inside: Conversations, cli: Cli, verb: tuple[str, ...]
) -> None:
    config = settings(inside)
    with inside.lab.terminal("--yolo") as terminal:
        terminal.wait_for("❯")
        terminal.type("Good morning")
        terminal.wait_for(ANSWER)

        def rests() -> bool:
            terminal.read()
            [found] = inside.sessions()
            return all(each.busy_since is None for each in found.holders)

        wait_until(rests)
        [left] = inside.sessions()
        first, *options = verb
        cli.ok("sessions", first, left.name, *options, *config)
        asked = len(inside.model.asked)
        terminal.type("And now?")
        terminal.wait_for("[sexton]")
        assert len(inside.model.asked) == asked, "nothing more is done in its name"
        terminal.type("/new")
        terminal.type("Good evening")
        terminal.wait_for(ANSWER, times=2)
        assert {left.id} < {each.id for each in inside.sessions()}


def test_every_verb_of_an_operator_works_on_a_home_that_may_be_changed(
    outside: Conversations, cli: Cli
) -> None:
    config = settings(outside)
    with outside.gateway():
        outside.say(ALICE, "Good morning")
        first = f"{HOME}/{outside.row_of(ALICE)}"
        cli.ok("doctor", *config)
        cli.ok("budget", "set", first, "--tokens", "1000", *config)
        cli.ok("budget", "raise", first, "--tokens", "500", *config)
        shown = cli("budget", "show", first, "--json", *config).items()
        assert 1000 in {each["limit"] for each in shown}
        cli.ok("sessions", "pin", first, *config)
        outside.say(ALICE, "And again")
        cli.ok("plan", *config)
        with outside.sexton() as house:
            house.sweep()
            assert house.find(first).pinned, "a look at the home leaves the pin alone"
        cli.ok("sessions", "unpin", first, *config)
        cli.ok("sessions", "reset", first, *config)
        assert outside.rows()[first.split("/")[1]] == ("session_reset",)
        assert session(outside, first.split("/")[1]).end_reason == "reset"
        assert ANSWER in outside.say(ALICE, "Good evening")
        second = outside.row_of(ALICE)
        assert second != first.split("/")[1]
        assert "Good morning" not in str(outside.model.asked[-1])


def test_verbs_on_a_home_that_may_not_be_changed_name_the_setting(
    outside: Conversations, cli: Cli
) -> None:
    with outside.gateway():
        outside.say(ALICE, "Good morning")
        name = f"{HOME}/{outside.row_of(ALICE)}"
        config = settings(outside, act=False)
        cli.ok("doctor", *config)
        for verb in (
            ("sessions", "end", name, "--yes"),
            ("sessions", "reset", name),
            ("sessions", "pin", name),
            ("budget", "set", name, "--tokens", "1000"),
        ):
            answer = cli(*verb, "--json", *config)
            assert answer.code == 53
            assert "act: true" in answer.error()["hint"]
        assert outside.rows()[outside.row_of(ALICE)] == (None,)


def test_a_conversation_that_grows_is_announced_once_and_then_begins_anew(
    outside: Conversations, cli: Cli, monkeypatch: pytest.MonkeyPatch, hermes_python: Path
) -> None:
    monkeypatch.setenv("PATH", f"{hermes_python.parent}{os.pathsep}{os.environ['PATH']}")
    config = settings(outside, max_messages=8)

    def keep() -> list[str]:
        before = len(outside.signal.to(OWNER))
        cli.ok("keep", "--once", *config)
        return outside.signal.to(OWNER)[before:]

    def said(id: str) -> int:
        return int(outside.sql("SELECT COUNT(*) FROM messages WHERE session_id = ?", id)[0][0])

    with outside.gateway():
        outside.say(ALICE, "One")
        outside.say(ALICE, "Two")
        assert keep() == []
        first = outside.row_of(ALICE)
        outside.say(ALICE, "Three")
        [told] = keep()
        assert f"{said(first)} messages" in told
        assert keep() == [], "once"
        assert f"{said(first)} messages of 8" in cli.ok("why", f"{HOME}/{first}", *config)
        outside.say(ALICE, "Four")
        [told] = keep()
        assert f"{said(first)} messages" in told
        assert outside.rows()[first] == ("session_reset",)
        assert session(outside, first).end_reason == "max_messages"
        assert ANSWER in outside.say(ALICE, "Five")
        assert outside.row_of(ALICE) != first
        assert "Four" not in str(outside.model.asked[-1])
