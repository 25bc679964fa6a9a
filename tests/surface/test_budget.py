"""`sexton budget`: what may be spent, what was, and a person's word about it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sexton.errors import BudgetExceeded
from tests.golden import golden
from tests.surface.program import Cli

pytestmark = pytest.mark.usefixtures("noon")


@pytest.fixture
def config(tmp_path: Path) -> str:
    file = tmp_path / "settings.yaml"
    budgets = [
        {"scope": "session", "tokens": 100},
        {"scope": "day", "tokens": 1000},
        {"scope": "source", "tool_calls": 50},
    ]
    file.write_text(json.dumps({"budgets": budgets}), encoding="utf-8")
    return str(file)


def spend(cli: Cli, tokens: int, source: str = "telegram") -> str:
    with cli.opened() as opened, opened.worker() as worker:
        session = worker.session("a", source=source)
        with session.turn() as turn:
            turn.reserve(input_tokens=tokens).commit(input_tokens=tokens)
        return session.id


@pytest.fixture
def spent(any_cli: Cli, config: str) -> str:
    """A session that has spent its budget; its id."""
    any_cli.ok("keep", "--once", "--config", config)
    id = spend(any_cli, 100)
    with pytest.raises(BudgetExceeded):
        spend(any_cli, 1)
    return id


def test_programs_learn_how_the_budgets_of_a_session_stand(any_cli: Cli, spent: str) -> None:
    found = {each["budget"]: each for each in any_cli("budget", "show", spent, "--json").items()}
    tokens = found["session.tokens"]
    assert (tokens["spent"], tokens["limit"], tokens["state"]) == (100, 100, "pause")
    assert found["day.tokens"]["spent"] == 100
    assert found["tree.tokens/1h"]["state"] == "kept"
    assert found["source.tool_calls"]["limit"] == 50
    of_tree = any_cli("budget", "show", spent, "--tree", "--json").items()
    assert [each["budget"] for each in of_tree] == ["tree.tokens/1h"]
    assert [each["budget"] for each in any_cli("budget", "show", "--json").items()] == [
        "day.tokens"
    ]
    by_source = any_cli("budget", "show", "--source", "telegram", "--json").items()
    assert {each["scope"] for each in by_source} == {"day", "source"}


def test_a_person_reads_the_same_and_why_says_it_too(any_cli: Cli, spent: str) -> None:
    golden("budget", "a session has spent its budget", any_cli.ok("budget", "show", spent))
    golden("why", "a session has spent its budget", any_cli.ok("why", spent))
    answers = any_cli("why", spent, "--json").json()["answers"]
    assert "pause" in [each["answer"] for each in answers]


def test_more_can_be_allowed_and_the_journal_says_by_whom(any_cli: Cli, spent: str) -> None:
    more = any_cli.ok("budget", "raise", spent, "--tokens", "50")
    golden("budget", "more is allowed", more)
    spend(any_cli, 50)
    with pytest.raises(BudgetExceeded):
        spend(any_cli, 1)
    entries = any_cli("why", spent, "--json").json()["journal"]
    raised = [each for each in entries if each["action"] == "raise_budget"]
    assert len(raised) == 3
    assert "@" in raised[0]["actor"]


def test_a_session_gets_a_limit_of_its_own_and_loses_it_again(any_cli: Cli, spent: str) -> None:
    answer = any_cli("budget", "set", spent, "--tokens", "150", "--action", "kill", "--json").json()
    assert (answer["verb"], answer["done"]) == ("set_budget", 1)
    [own] = [each for each in shown(any_cli, spent) if each["budget"] == "session.tokens"]
    assert (own["scope"], own["limit"], own["action"]) == ("session", 150, "kill")
    spend(any_cli, 50)
    any_cli.ok("budget", "clear", spent, "--unit", "tokens")
    [tokens] = [
        each
        for each in any_cli("budget", "show", spent, "--json").items()
        if each["budget"] == "session.tokens"
    ]
    assert (tokens["limit"], tokens["spent"]) == (100, 150)


def shown(cli: Cli, session: str) -> Any:
    """How the budgets of a session stand."""
    return cli("budget", "show", session, "--json").items()


def test_every_limit_of_its_own_goes_at_one_word(any_cli: Cli, spent: str) -> None:
    for option, amount in (("--tokens", "150"), ("--usd", "3")):
        any_cli.ok("budget", "set", spent, option, amount)
    any_cli.ok("budget", "set", spent, "--tree", "--usd", "4")
    any_cli.ok("budget", "clear", spent)
    found = {each["budget"]: each for each in any_cli("budget", "show", spent, "--json").items()}
    assert found["session.tokens"]["limit"] == 100
    assert "session.usd" not in found
    assert found["tree.usd"]["limit"] == 4_000_000


def test_what_did_not_fit_is_shown(any_cli: Cli, config: str) -> None:
    any_cli.ok("keep", "--once", "--config", config)
    id = spend(any_cli, 60)
    with pytest.raises(BudgetExceeded):
        spend(any_cli, 60)
    golden("budget", "a call did not fit", any_cli.ok("budget", "show", id))
    found = {each["budget"]: each for each in any_cli("budget", "show", id, "--json").items()}
    assert found["session.tokens"]["refused_at"] is not None
    any_cli.ok("budget", "raise", id, "--tokens", "50")
    found = {each["budget"]: each for each in any_cli("budget", "show", id, "--json").items()}
    assert found["session.tokens"]["refused_at"] is None
    golden("budget", "a call fits after all", any_cli.ok("budget", "show", id))


def test_where_nothing_is_counted_it_is_said_what_is_in_force(cli: Cli) -> None:
    cli.talk("a", "hello", source="telegram")
    golden("budget", "nothing is counted there", cli("budget", "show").err)
    assert "'telegram'" not in cli("budget", "show", "--source", "telegram").err
    for command in (("show",), ("set", "--tokens", "5")):
        answer = cli("budget", *command, "--source", "telegrm")
        assert (answer.code, "'telegrm'" in answer.out + answer.err) == (0, True)


def test_a_source_and_a_tree_get_limits_of_their_own(any_cli: Cli, spent: str) -> None:
    any_cli.ok("budget", "set", "--source", "telegram", "--usd", "12.50")
    any_cli.ok("budget", "set", spent, "--tree", "--wall", "8h")
    found = {each["budget"]: each for each in any_cli("budget", "show", spent, "--json").items()}
    assert found["source.usd"]["limit"] == 12_500_000
    assert found["tree.wall"]["limit"] == 28_800_000


@pytest.mark.parametrize(
    "arguments",
    [
        ("set", "--source", "cron"),
        ("set", "--source", "cron", "--tokens", "5", "--usd", "1"),
        ("show", "--source", "cron", "--tree"),
        ("show", "abc", "--source", "cron"),
    ],
)
def test_what_is_no_command_is_refused(cli: Cli, arguments: tuple[str, ...]) -> None:
    cli.talk("a", "hello")
    assert cli("budget", *arguments).code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("set", "--tokens", "5"),
        ("raise", "--tokens", "5"),
        ("clear",),
        ("set", "--source", "cron", "--tokens", "-5"),
        ("set", "--source", "cron", "--tokens", "0"),
        ("set", "--source", "cron", "--tokens", "9999999999999"),
        ("set", "--source", "cron", "--usd", "1e9"),
        ("set", "--source", "cron", "--wall", "soon"),
        ("set", "--source", "cron", "--tree", "--tokens", "5"),
        ("raise", "--source", "cron", "--tree", "--tokens", "5"),
    ],
)
def test_what_can_only_be_a_mistake_is_refused(cli: Cli, arguments: tuple[str, ...]) -> None:
    cli.talk("a", "hello")
    answer = cli("budget", *arguments, "--json")
    assert (answer.code, answer.error()["error"]) == (62, "InputInvalid")


def test_the_budget_that_killed_is_shown_with_what_it_did(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "kill.yaml"
    file.write_text("budgets: [{scope: session, tokens: 100}]")
    cli.ok("keep", "--once", "--config", str(file))
    with cli.opened() as opened, opened.worker() as worker:
        session = worker.session("a", source="cron")
        with session.turn() as turn:
            turn.reserve(input_tokens=90).commit(input_tokens=90)
            with pytest.raises(BudgetExceeded):
                turn.reserve(input_tokens=20)
        id = session.id
    found = {each["budget"]: each for each in cli("budget", "show", id, "--json").items()}
    assert found["session.tokens"]["state"] == "kill"
    told = cli("budget", "raise", id, "--tokens", "50")
    assert told.code == 0
    golden("budget", "more is allowed to a session that was ended", told.out + told.err)


def test_what_is_not_counted_can_not_be_raised(cli: Cli) -> None:
    id = cli.talk("a", "hello")
    assert cli("budget", "raise", id, "--usd", "5").code == 62
    assert cli("budget", "set", "--source", "cron", "--messages", "5").code == 62
