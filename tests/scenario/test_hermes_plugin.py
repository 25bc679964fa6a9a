"""The plugin inside the real Hermes: ends, turns, budgets, processes, and a ledger that fails."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import pytest

from sexton.core.clock import SystemClock
from sexton.core.session import Session
from sexton.finalizers.policy import Owing
from sexton.rules.rulebook import Rulebook
from sexton.sessions.model import Filter
from sexton.settings.settings_values import Settings
from sexton.spending.model import Budget, Scope, Unit
from sexton.spending.policy import SpendRules
from sexton.store.opening import open_ledger
from sexton.wiring import Sexton
from tests.golden import golden
from tests.scenario.fake_model import ANSWER, FakeModel, ToolUse
from tests.scenario.finalizers_scene import wait_until
from tests.scenario.hermes_exits import ends_of
from tests.scenario.hermes_house import House
from tests.scenario.hermes_lab import Lab

BACKGROUND = ToolUse("terminal", {"command": "sleep 6000", "background": True})
ENABLED = """
plugins: {enabled: [sexton]}
approvals: {destructive_slash_confirm: false}
"""


@dataclass(frozen=True)
class Inside:
    """A home whose Hermes has the plugin, its model, and the ledger it tells."""

    lab: Lab
    model: FakeModel
    ledger: str

    def sessions(self) -> list[Session]:
        """What the ledger knows of the home, the newest first."""
        opened = open_ledger(self.ledger)
        try:
            return opened.index.page(Filter(home="hermes"), None, 20)
        finally:
            opened.close()


@pytest.fixture(scope="module")
def python(furnished_python: Path) -> Path:
    return furnished_python


@pytest.fixture
def inside(python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Inside]:
    ledger = f"sqlite:///{tmp_path / 'ledger.db'}"
    monkeypatch.setenv("SEXTON_LEDGER", ledger)
    with FakeModel() as model:
        lab = Lab(python, tmp_path / "home", model.url)
        with (lab.home / "config.yaml").open("a") as config:
            config.write(ENABLED)
        yield Inside(lab, model, ledger)


def publish(ledger: str, rules: Rulebook) -> None:
    with Sexton(open_ledger(ledger), Settings(rulebook=rules)) as house:
        house.publish()


def results(messages: list[Any]) -> list[str]:
    """What the tools said, as the model was told."""
    return [str(each["content"]) for each in messages if each["role"] == "tool"]


def test_a_single_question_ends_its_session_and_owes_its_finalizers(inside: Inside) -> None:
    publish(inside.ledger, Rulebook(finalizers=(Owing(name="notes"),)))
    assert ANSWER in inside.lab.ask("Good morning")
    [session] = inside.sessions()
    assert (session.source, session.state, session.end_reason) == ("cli", "ended", "cli_close")
    assert session.holders == ()
    opened = open_ledger(inside.ledger)
    assert opened.workers.all() == [], "it has left"
    assert {name for name, _ in opened.finalizing.tally()} == {"notes"}
    opened.close()


def test_a_spent_budget_answers_in_place_of_the_model(inside: Inside) -> None:
    budget = Budget(name="calls", scope=Scope.SESSION, unit=Unit.INPUT, limit=150)
    publish(inside.ledger, Rulebook(spend=SpendRules(budgets=(budget,))))
    inside.model.reply = lambda _: ToolUse("terminal", {"command": "true"})
    assert "[sexton]" in inside.lab.ask("Go on for ever", "--yolo")
    assert len(inside.model.asked) < 5


def test_what_is_started_in_the_background_is_known_and_told_of(inside: Inside) -> None:
    """At once, to the model that asks, and to whoever leaves the session."""

    def starting(messages: list[Any]) -> str | ToolUse:
        said = results(messages)
        wanted = [BACKGROUND, ToolUse("sexton_processes", {})]
        return wanted[len(said)] if len(said) < len(wanted) else ANSWER

    inside.model.reply = starting
    with inside.lab.terminal("--yolo") as terminal:
        terminal.wait_for("❯")
        terminal.type("Start it")
        terminal.wait_for(ANSWER)
        _, answer = results(inside.model.asked[-1])
        [told] = json.loads(answer)["processes"]
        opened = open_ledger(inside.ledger)
        [process] = opened.registry.running()
        assert process.identity.pid == told["pid"]
        try:
            assert "sleep 6000" in told["command"]
            assert process.session == told["session"]

            def turn_is_over() -> bool:
                terminal.read()  # who is not listened to stands still
                [session] = opened.index.find("hermes", process.session)
                [holder] = session.holders
                assert holder.worker.identity.pid == terminal.pid
                return holder.busy_since is None

            wait_until(turn_is_over)  # a little after the answer is shown
            terminal.type("/sexton")
            terminal.wait_for("1 background processes")
            terminal.type("/new")
            terminal.wait_for("1 background process of the session you leave")

            def has_ended() -> bool:
                terminal.read()
                [session] = opened.index.find("hermes", process.session)
                return not session.is_open

            wait_until(has_ended)
        finally:
            os.kill(process.identity.pid, signal.SIGKILL)
            opened.close()
    ends = {each.id: each.end_reason for each in inside.sessions()}
    assert ends[process.session] == "new_session"


@pytest.mark.parametrize("kind", ["garbage", "locked"])
def test_a_ledger_that_can_not_be_used_is_told_of_once_and_breaks_nothing(
    inside: Inside, kind: str
) -> None:
    file = Path(inside.ledger.removeprefix("sqlite:///"))
    lock: Any = None
    if kind == "garbage":
        file.write_bytes(b"this is no database at all" * 100)
    else:
        open_ledger(inside.ledger).close()
        lock = apsw.Connection(str(file))
        lock.execute("BEGIN IMMEDIATE")
    try:
        done = inside.lab.run("chat", "-q", "Good morning")
    finally:
        if lock is not None:
            lock.close()
    assert ANSWER in done.stdout
    told, left = [line for line in done.stderr.splitlines() if line.startswith("sexton ")]
    golden("hermes", f"a ledger that can not be used: {kind}", told)
    assert re.search(r"\d tokens", left), "it says at its end what no ledger counted"


@pytest.mark.parametrize("plugin", [False, True], ids=["alone", "inside"])
def test_a_question_that_is_interrupted_ends_with_its_process_or_by_the_keeper(
    python: Path, tmp_path: Path, plugin: bool
) -> None:
    """The rest of the table in docs/hermes.md is measured by `make hermes-matrix`."""
    ends = ends_of(python, tmp_path / "place", "-z", "SIGTERM", plugin=plugin)
    assert not ends.stayed
    assert (ends.left, ends.swept) == (
        ({"cli": "agent_close"}, {"cli": "agent_close"})
        if plugin
        else ({"cli": None}, {"cli": "reaped"})
    )


def test_the_ledger_knows_of_a_killed_process_beside_one_that_lives(inside: Inside) -> None:
    """A look from outside proves nothing there: any process of Hermes may own the row."""
    house = House(inside.ledger, inside.lab.home, clock=SystemClock())
    with inside.lab.terminal() as terminal:
        terminal.wait_for("❯")
        terminal.type("Good morning")
        terminal.wait_for(ANSWER)
        [living] = inside.sessions()
        held = len(inside.model.asked) + 1
        inside.model.hold_from(held)
        with inside.lab.started("-z", "Good morning") as killed:
            wait_until(lambda: len(inside.model.asked) == held)  # in the middle of its turn
            assert len(inside.sessions()) == 2
            killed.kill()
            killed.wait()
        assert list(house.swept().values()) == ["done reaped:process_gone"]
        assert house.sexton.find(f"hermes/{living.id}").is_open
        inside.model.go_on()
        terminal.type("Are you still there?")
        terminal.wait_for(ANSWER, 2)
    house.sexton.close()
