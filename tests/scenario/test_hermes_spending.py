"""Budgets and the breaker inside the real Hermes: they hold, whatever happens to them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from sexton.spending.model import Act, Scope, Unit
from tests.scenario.fake_model import ANSWER, ToolUse
from tests.scenario.hermes_exits import GOAL, rows
from tests.scenario.hermes_lab import listen, turns_ended
from tests.scenario.hermes_spender import Spender, budget, failing, spender, working
from tests.scenario.hermes_starting import run
from tests.scenario.hermes_turns import TURNS

LARGE = {"prompt_tokens": 2000, "completion_tokens": 100, "total_tokens": 2100}


@pytest.fixture(scope="module")
def python(furnished_python: Path) -> Path:
    return furnished_python


@pytest.fixture
def home(python: Path, tmp_path: Path) -> Iterator[Spender]:
    with spender(python, tmp_path) as made:
        yield made


def ends(home: Spender) -> set[str | None]:
    """How the rows of Hermes ended."""
    return {reason for _, reason in rows(home.lab.home).values()}


def test_a_job_whose_tools_fail_asks_nothing_more_and_says_why_it_ended(home: Spender) -> None:
    home.model.reply = failing
    home.run_job()
    [session] = home.sessions()
    assert session.end_reason == "breaker:tool_errors"
    assert ends(home) == {"breaker:tool_errors"}
    assert home.codes("end") == ["breaker:tool_errors"]
    assert len(home.model.asked) == 9


def test_a_job_ends_with_the_iterations_of_its_turn(home: Spender) -> None:
    home.publish(budget(Scope.TURN, Unit.ITERATIONS, 12))
    home.run_job()
    assert len(home.model.asked) == 12
    assert {each.end_reason for each in home.sessions()} == {"budget:turn.iterations"}
    assert ends(home) == {"budget:turn.iterations"}


@pytest.mark.parametrize("action", [Act.KILL, Act.RESET])
def test_a_job_that_a_budget_ends_asks_nothing_more_and_its_row_says_why(
    home: Spender, action: Act
) -> None:
    home.publish(budget(Scope.SESSION, Unit.ITERATIONS, 4, action))
    home.run_job()
    assert len(home.model.asked) == 4
    [session] = home.sessions()
    assert (session.end_reason, session.holders) == ("budget:session.iterations", ())
    assert ends(home) == {"budget:session.iterations"}
    assert home.codes("end") == ["budget:session.iterations"]


def test_a_job_whose_session_a_person_ends_asks_nothing_more(home: Spender) -> None:
    def ending(messages: list[Any]) -> str | ToolUse:
        if len(home.model.asked) == 3:
            home.end("operator")
        return working(messages)

    home.model.reply = ending
    home.run_job()
    assert len(home.model.asked) == 3
    assert ends(home) == {"operator"}


def test_a_token_budget_is_used_and_not_overspent(home: Spender) -> None:
    home.model.usage = LARGE
    home.publish(budget(Scope.SESSION, Unit.TOKENS, 100_000, Act.KILL))
    home.run_job()
    spent = 2100 * len(home.model.asked)
    assert 80_000 <= spent <= 100_000 + 2100
    assert {each.end_reason for each in home.sessions()} == {"budget:session.tokens"}


def test_without_a_price_the_other_budgets_hold(home: Spender) -> None:
    home.publish(
        budget(Scope.SOURCE, Unit.USD, 5_000_000),
        budget(Scope.TURN, Unit.ITERATIONS, 10),
        budget(Scope.SESSION, Unit.TOKENS, 90_000),
    )
    assert len(re.findall(r"sexton .* fake-model ", home.run_job())) == 1
    assert len(home.model.asked) == 10
    assert home.codes("warn").count("price_unknown:fake-model") == 1
    [session] = home.sessions()
    assert "price_unknown:fake-model" in home.sexton("why", session.name, "--json")
    assert "fake-model" in home.sexton("budget", "show", "--source", "cron")
    assert "budgets.unpriced" in home.sexton("doctor", str(home.lab.home), "--json")


def test_whoever_is_there_is_told_at_once_when_tools_are_stopped(home: Spender) -> None:
    home.model.reply = failing
    shown = home.lab.ask("Try", "--yolo")
    assert len(home.model.asked) == 9, "neither the turn nor a review of it asks more"
    assert "[sexton]" in shown
    assert "terminal" in shown
    said = [each["content"] for each in home.model.asked[-1] if each["role"] == "tool"]
    assert sum("[sexton]" in each for each in said) == 2, "the model was warned before"
    assert home.codes("pause") == ["breaker:tool_errors"]


def test_what_is_said_is_neither_in_the_ledger_nor_in_our_lines_of_the_log(home: Spender) -> None:
    """The user is shown what a tool said last; nothing else of it leaves Hermes."""
    secret = "swordfish-4711"

    def telling(messages: list[Any]) -> str | ToolUse:
        wish = failing(messages)
        if isinstance(wish, str):
            return wish
        return ToolUse(wish.tool, {"command": f"echo {secret}; {wish.arguments['command']}"})

    home.model.reply = telling
    assert secret in home.lab.ask(f"Look for {secret}", "--yolo")
    assert home.codes("pause") + home.codes("end")
    with closing(apsw.Connection(home.ledger.removeprefix("sqlite:///"))) as ledger:
        tables = [
            name
            for (name,) in ledger.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        ]
        rows = [row for name in tables for row in ledger.execute(f'SELECT * FROM "{name}"')]
    assert rows
    assert secret not in repr(rows)
    logs = (home.lab.home / "logs").rglob("*.log")
    lines = [line for each in logs for line in each.read_text(errors="replace").splitlines()]
    assert secret not in "".join(line for line in lines if "sexton." in line)


def test_the_review_of_a_turn_spends_from_the_budgets_of_its_session(home: Spender) -> None:
    """Hermes looks back after ten tools, in another thread and under the same id."""
    home.publish(budget(Scope.SESSION, Unit.INPUT, 100_000))

    def sometimes(messages: list[Any]) -> str | ToolUse:
        said = [each["role"] for each in messages]
        return ANSWER if said.count("user") > 1 or said.count("tool") > 11 else working(messages)

    home.model.reply = sometimes
    with home.lab.terminal("--yolo") as terminal:
        terminal.wait_for("❯")
        terminal.type("Go on")
        listen(terminal, lambda: turns_ended(home.lab) == 2)
        assert len(home.model.asked) == 14
        [session] = home.sessions()
        assert session.usage.input_tokens == 1400


def test_after_a_kill_nobody_looks_back(home: Spender) -> None:
    home.publish(budget(Scope.SESSION, Unit.ITERATIONS, 12, Act.KILL))
    with home.lab.terminal("--yolo") as terminal:
        terminal.wait_for("❯")
        terminal.type("Go on for ever")
        listen(terminal, lambda: turns_ended(home.lab) == 2)
    assert len(home.model.asked) == 12
    assert home.codes("end")[-1] == "budget:session.iterations"


def test_subagents_spend_from_the_budget_of_their_tree(home: Spender) -> None:
    home.model.usage = LARGE
    home.publish(budget(Scope.TREE, Unit.TOKENS, 60_000))

    def delegating(messages: list[Any]) -> str | ToolUse:
        if GOAL in json.dumps([each for each in messages if each["role"] == "user"]):
            return working(messages)
        if sum(each["role"] == "tool" for each in messages) > 3:
            return ANSWER  # three work in the background, and for the fourth it waits
        return ToolUse("delegate_task", {"goal": f"{GOAL} {len(messages)}"})

    home.model.reply = delegating
    home.lab.ask("Delegate it", "--yolo")
    assert 48_000 <= 2100 * len(home.model.asked) <= 60_000 + 4 * 2100, "one answer of each"
    roots = {each.id for each in home.sessions() if each.source == "cli"}
    assert {each.parent for each in home.sessions() if each.source == "subagent"} == roots


def test_messages_of_a_session_are_bounded(home: Spender) -> None:
    home.publish(budget(Scope.SESSION, Unit.MESSAGES, 20))
    home.run_job()
    assert 8 <= len(home.model.asked) <= 11
    assert ends(home) == {"budget:session.messages"}


def test_what_was_killed_stays_so_when_it_is_resumed(home: Spender) -> None:
    home.publish(budget(Scope.SESSION, Unit.ITERATIONS, 5, Act.KILL))
    home.lab.ask("Go on for ever", "--yolo")
    asked = len(home.model.asked)
    assert asked == 5
    [session] = home.sessions()
    assert "[sexton]" in home.lab.ask("Go on", "--resume", session.id, "--yolo")
    assert len(home.model.asked) == asked


@pytest.mark.parametrize("when", ["at once", "midway"])
def test_while_the_ledger_is_away_a_turn_is_bounded_by_itself_and_says_so_once(
    python: Path, tmp_path: Path, when: str
) -> None:
    with spender(python, tmp_path) as home, ExitStack() as locked:
        home.publish(budget(Scope.TURN, Unit.ITERATIONS, 8))

        def lock(messages: list[Any]) -> str | ToolUse:
            if len(home.model.asked) == 3:
                file = home.ledger.removeprefix("sqlite:///")
                connection = locked.enter_context(closing(apsw.Connection(file)))
                connection.execute("BEGIN IMMEDIATE")
            return working(messages)

        if when == "at once":
            Path(home.ledger.removeprefix("sqlite:///")).write_bytes(b"no database" * 1000)
            settings = tmp_path / "sexton.yaml"
            settings.write_text("budgets: [{scope: turn, iterations: 8}]")
            home.lab.add("SEXTON_CONFIG", str(settings))
        else:
            home.model.reply = lock
        said = home.run_job()
        assert len(home.model.asked) == 8
        assert len(re.findall(r"sexton .* its ledger", said)) == 1


SHORT_TURNS = """
for id in ("talk", "goes_on"):
    home.create_session(id, "cli")
lock = apsw.Connection(sys.argv[1])
lock.execute("BEGIN IMMEDIATE")
turn("first", "talk")
turn("second", "talk", "goes_on")
lock.close()
clock.advance(timedelta(seconds=REST + 1))
turn("third", "talk")
turn("fourth", "goes_on")
guests.leave()
"""


def test_what_turns_took_that_were_over_before_the_ledger_was_back_is_counted(
    python: Path, home: Spender
) -> None:
    """One turn moves to another row of its conversation meanwhile, as by a compression."""
    home.publish(budget(Scope.SESSION, Unit.TOKENS, 100_000))
    file = home.ledger.removeprefix("sqlite:///")
    home.lab.run_program(TURNS + SHORT_TURNS, file)
    assert home.spent_by_all("session.tokens") == 5 * 105


ENDED_TURNS = """
from sexton.integrations.hermes_plugin.wiring import Companion

companion, names = Companion(guests, turns, trying), ("left", "goes_on", "last")
for id in names:
    home.create_session(id, "cli")
    turn(f"first {id}", id)
lock = apsw.Connection(sys.argv[1])
lock.execute("BEGIN IMMEDIATE")
for id in names:
    turn(f"second {id}", id)
companion.finalize(session_id="left")
home.end_session("left", "new_session")
lock.execute("ROLLBACK")
clock.advance(timedelta(seconds=REST + 1))
turn("third", "goes_on")
if sys.argv[2] == "away":
    lock.execute("BEGIN IMMEDIATE")
companion.settle()
"""


@pytest.mark.parametrize(("at_exit", "counted"), [("there", 7), ("away", 6)])
def test_what_a_conversation_took_that_ended_while_the_ledger_was_away_is_counted(
    python: Path, home: Spender, at_exit: str, counted: int
) -> None:
    """With the next answer of the ledger or when the process ends, or the log says how much."""
    home.publish(budget(Scope.SESSION, Unit.TOKENS, 100_000))
    file = home.ledger.removeprefix("sqlite:///")
    done = home.lab.run_program(TURNS + ENDED_TURNS, file, at_exit)
    assert home.spent_by_all("session.tokens") == counted * 105
    told = {line for line in done.stderr.splitlines() if "105" in line and "last" in line}
    assert len(told) == 7 - counted


def test_what_hermes_asks_beside_the_conversation_is_counted(python: Path, tmp_path: Path) -> None:
    with spender(python, tmp_path, "auxiliary: {title_generation: {enabled: true}}\n") as home:
        home.publish(budget(Scope.SESSION, Unit.INPUT, 100_000))
        home.model.reply = lambda _: ANSWER
        with home.lab.terminal("--yolo") as terminal:
            terminal.wait_for("❯")
            terminal.type("Good morning")
            listen(terminal, lambda: len(home.model.asked) == 2 and bool(titles(home)))
            terminal.type("And now?")
            listen(terminal, lambda: turns_ended(home.lab) == 2)
            listen(terminal, lambda: home.spent("session.input_tokens") == 300)
            assert len(home.model.asked) == 3


def titles(home: Spender) -> list[int]:
    """What Hermes has counted for titles."""
    with closing(apsw.Connection(str(home.lab.home / "state.db"))) as db:
        asked = "SELECT input_tokens FROM session_model_usage WHERE task = 'title_generation'"
        return [tokens for (tokens,) in db.execute(asked)]


@pytest.mark.parametrize(
    "mode", ["chat_completions", "anthropic_messages", "codex_responses", "bedrock_converse"]
)
def test_hermes_takes_an_answer_in_place_of_every_kind_of_model(
    python: Path, tmp_path: Path, mode: str
) -> None:
    program = f"""
from agent.transports import get_transport
from agent.usage_pricing import normalize_usage
from sexton.integrations.hermes_plugin.calls import answer
transport, given = get_transport("{mode}"), answer("Enough.", "model", "{mode}")
assert transport.validate_response(given)
taken = transport.normalize_response(given)
used = normalize_usage(given.usage, provider="", api_mode="{mode}").total_tokens
print(taken.content, taken.finish_reason, taken.tool_calls, used)
"""
    done = run([str(python), "-c", program], {**os.environ, "HERMES_HOME": str(tmp_path)}, tmp_path)
    assert done.stdout.split() == ["Enough.", "stop", "None", "0"]
