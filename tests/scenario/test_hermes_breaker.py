"""The breaker inside the real Hermes where a person is there: nothing asks on, and all is said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sexton.rules.rulebook import Rulebook
from sexton.spending.policy import BreakerPolicy, SpendRules
from tests.scenario.finalizers_scene import wait_until
from tests.scenario.hermes_gateway import ALICE, conversations
from tests.scenario.hermes_lab import listen, turns_ended
from tests.scenario.hermes_spender import Spender, failing, spender

STOPS_AT = BreakerPolicy().warn_at[-1]
LONG = timedelta(hours=6)
"""Tools rest for longer than any test runs."""
MOMENT = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC")


@pytest.fixture(scope="module")
def python(furnished_python: Path) -> Path:
    return furnished_python


@pytest.fixture
def home(python: Path, tmp_path: Path) -> Iterator[Spender]:
    with spender(python, tmp_path) as made:
        made.publish(cool_down=LONG)
        made.model.reply = failing
        yield made


def says_until_when(text: str) -> bool:
    """Whether a text names a moment within the rest of the tools."""
    found = [datetime.fromisoformat(moment).replace(tzinfo=UTC) for moment in MOMENT.findall(text)]
    now = datetime.now(UTC)
    return bool(found) and all(now < moment <= now + LONG for moment in found)


def test_a_stopped_turn_asks_nothing_more_and_neither_does_its_review(home: Spender) -> None:
    with home.lab.terminal("--yolo") as terminal:
        terminal.wait_for("❯")
        terminal.type("Try")
        listen(terminal, lambda: turns_ended(home.lab) == 2)
    assert len(home.model.asked) == STOPS_AT
    assert home.codes("pause") == ["breaker:tool_errors"]


def test_while_tools_rest_a_chat_is_told_each_time_what_failed_and_until_when(
    python: Path, tmp_path: Path
) -> None:
    rules = Rulebook(spend=SpendRules(breaker=BreakerPolicy(cool_down=LONG)))
    with conversations(python, tmp_path, plugin=True) as home:
        with home.sexton(rulebook=rules) as house:
            house.publish()
        home.model.reply = failing
        with home.gateway():
            first = home.say(ALICE, "Try")
            wait_until(lambda: turns_ended(home.lab) == 2)
            assert len(home.model.asked) == STOPS_AT
            again = home.say(ALICE, "Try again")
            assert len(home.model.asked) == STOPS_AT + 1, "the model may answer without tools"
    for text in (first, again):
        assert "[sexton]" in text
        assert "exit_code" in text, "what the tool said"
        assert says_until_when(text)


def test_another_process_names_the_tools_that_failed_and_until_when_they_rest(
    home: Spender,
) -> None:
    """Nothing that a tool said is stored, so only the process it spoke to can repeat it."""
    home.lab.ask("Try", "--yolo")
    [session] = home.sessions()
    asked = len(home.model.asked)
    text = " ".join(home.lab.ask("Try again", "--resume", session.id, "--yolo").split())
    assert len(home.model.asked) == asked + 1
    assert "[sexton]" in text
    assert "terminal" in text.partition("[sexton]")[2]
    assert says_until_when(text)
