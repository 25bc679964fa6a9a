"""What runs on when a session is left: who is told of it, when, and in which words."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from sexton.processes.model import Process
from sexton.store.opening import open_ledger
from tests.scenario.fake_model import ANSWER, FakeModel, ToolUse
from tests.scenario.finalizers_scene import wait_until
from tests.scenario.hermes_gateway import (
    ALICE,
    BOB,
    HOME,
    PLUGIN,
    Conversations,
    conversations,
)
from tests.scenario.hermes_lab import Lab, listen

SERVE = ToolUse(
    "terminal", {"command": "python3 -m http.server 0 --bind 127.0.0.1", "background": True}
)
SLEEP = ToolUse("terminal", {"command": "sleep 86399", "background": True})
LIST = ToolUse("sexton_processes", {})
WISHES = {"please serve": SERVE, "please sleep": SLEEP, "please list": LIST}


def granting(messages: list[Any]) -> str | ToolUse:
    """A model that calls the tool somebody names, and answers when it has come back."""
    last = messages[-1]
    if last["role"] == "tool":
        return ANSWER
    said = str(last["content"])
    return next((wish for word, wish in WISHES.items() if word in said), ANSWER)


def running(ledger: str) -> list[Process]:
    """What is registered, the oldest first."""
    opened = open_ledger(ledger)
    try:
        return opened.registry.running()
    finally:
        opened.close()


@contextmanager
def ending(ledger: str) -> Iterator[None]:
    """End what was started in the background, whatever comes of the test."""
    try:
        yield
    finally:
        for each in running(ledger):
            with suppress(ProcessLookupError):
                os.killpg(each.identity.pid, signal.SIGKILL)


def listed(home: Conversations) -> dict[str, Any]:
    """What the tool has answered last."""
    answers = [each for each in home.model.asked[-1] if each["role"] == "tool"]
    found: dict[str, Any] = json.loads(answers[-1]["content"])
    return found


def test_after_an_end_from_outside_what_runs_is_of_the_conversation_that_began_anew(
    furnished_python: Path, tmp_path: Path
) -> None:
    """Nothing in Hermes tells of such an end, and both sessions have the same key."""
    with (
        conversations(furnished_python, tmp_path, plugin=True) as home,
        ending(home.ledger),
        home.gateway(),
    ):
        home.model.reply = granting
        home.say(ALICE, "Good morning")
        before = home.row_of(ALICE)
        file = tmp_path / "sexton.yaml"
        file.write_text(f"homes: [{{path: {home.lab.home}, act: true}}]")
        words = ("reset", f"{HOME}/{before}", "--config", str(file), "--ledger", home.ledger)
        subprocess.run([sys.executable, "-m", "sexton", "sessions", *words], check=True)
        home.say(ALICE, "please serve")
        [process] = running(home.ledger)
        assert process.session == home.row_of(ALICE) != before
        assert before not in home.say(ALICE, "/sexton")


@pytest.mark.parametrize("asks", [True, False], ids=["asked", "unasked"])
def test_in_a_chat_the_words_come_first_and_what_runs_on_is_shown_to_its_own_chat_only(
    furnished_python: Path, tmp_path: Path, asks: bool
) -> None:
    config = f"approvals: {{destructive_slash_confirm: {str(asks).lower()}}}\n"
    with (
        conversations(furnished_python, tmp_path, plugin=True, config=config) as home,
        ending(home.ledger),
        home.gateway(),
    ):
        home.model.reply = granting
        home.say(ALICE, "please serve")
        home.say(BOB, "please sleep")
        mine, his = running(home.ledger)
        assert (mine.session, his.session) == (home.row_of(ALICE), home.row_of(BOB))
        left = home.row_of(ALICE)
        before = len(home.signal.to(ALICE))
        home.signal.write(ALICE, "/new")
        home.signal.wait_for(lambda: len(home.signal.to(ALICE)) >= before + 2)
        words, question = home.signal.to(ALICE)[before : before + 2]
        assert mine.name in words
        assert "http.server" in words
        assert "bash" not in words
        assert "sleep" not in words
        assert ("/approve" in question) == asks
        if asks:
            assert home.rows()[left] == (None,)
            home.say(ALICE, "/approve")
        assert home.rows()[left] == ("session_reset",)

        home.say(ALICE, "please list")
        found = listed(home)
        assert found["count"] == 1
        [shown] = found["processes"]
        assert (shown["pid"], shown["session"]) == (mine.identity.pid, left)
        assert not shown["of_this_session"]
        assert "http.server" in shown["command"]
        assert "bash" not in shown["command"]

        home.say(BOB, "please list")
        assert [each["pid"] for each in listed(home)["processes"]] == [his.identity.pid]
        told = home.say(BOB, "/sexton processes")
        assert his.name in told
        assert mine.name not in told
        assert left not in home.say(BOB, "/sexton")


def test_on_a_terminal_the_words_come_before_the_question(
    furnished_python: Path, tmp_path: Path
) -> None:
    ledger = f"sqlite:///{tmp_path / 'ledger.db'}"
    with FakeModel(granting) as model, ending(ledger):
        lab = Lab(furnished_python, tmp_path / "home", model.url, {"SEXTON_LEDGER": ledger})
        with (lab.home / "config.yaml").open("a") as config:
            config.write(PLUGIN)
        with lab.terminal("--yolo") as terminal:
            terminal.wait_for("❯")
            terminal.type("please serve")
            terminal.wait_for(ANSWER)
            [process] = running(ledger)
            typed = len(terminal.shown)
            terminal.type("/new")

            def stands_below_the_words() -> bool:
                """Hermes prints beside its question, and then writes the question again."""
                shown = terminal.shown[typed:].decode(errors="replace")
                words, question, _ = shown.rpartition("destroys conversation state")
                return bool(question) and process.name in words and "http.server" in words

            listen(terminal, stands_below_the_words)


def test_on_a_terminal_the_tool_shows_after_new_what_runs_on(
    furnished_python: Path, tmp_path: Path
) -> None:
    ledger = f"sqlite:///{tmp_path / 'ledger.db'}"
    with FakeModel(granting) as model, ending(ledger):
        lab = Lab(furnished_python, tmp_path / "home", model.url, {"SEXTON_LEDGER": ledger})
        with (lab.home / "config.yaml").open("a") as config:
            config.write(PLUGIN + "approvals: {destructive_slash_confirm: false}\n")
        with lab.terminal("--yolo") as terminal:
            terminal.wait_for("❯")
            terminal.type("please serve")
            terminal.wait_for(ANSWER)
            [process] = running(ledger)
            terminal.type("/new")
            terminal.wait_for("of the session you leave")
            asked = len(model.asked)
            terminal.type("please list")

            def answered() -> bool:
                terminal.read()
                return len(model.asked) >= asked + 2

            wait_until(answered)
            [told] = [each for each in model.asked[-1] if each["role"] == "tool"]
            [shown] = json.loads(told["content"])["processes"]
            assert (shown["pid"], shown["session"]) == (process.identity.pid, process.session)
            assert not shown["of_this_session"]
            assert "http.server" in shown["command"]
