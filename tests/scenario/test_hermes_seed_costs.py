"""The session that burned, inside a real Hermes: its messages, its tool calls and its tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sexton.rules.rulebook import Rulebook
from sexton.settings.settings_values import Settings
from sexton.spending.policy import RunawayPolicy, SpendRules
from sexton.store.opening import open_ledger
from sexton.wiring import Sexton
from tests.scenario.fake_model import ANSWER, ToolUse
from tests.scenario.hermes_gateway import ALICE, BOB, Conversations, conversations

MESSAGES, CALLS = 602, 209
"""What the session of the report came to in 107 seconds."""
CAROL, DAVE = "+15551003", "+15551004"
LOOP = 40
HUGE = {"prompt_tokens": 100, "completion_tokens": 400_000, "total_tokens": 400_100}
HOUR = 5_000_000
"""What a tree of sessions may spend in an hour, if nobody says otherwise."""


@pytest.fixture(scope="module")
def home(
    furnished_python: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Conversations]:
    """One gateway for all; each test has people and rules of its own."""
    place = tmp_path_factory.mktemp("burning")
    with conversations(furnished_python, place, plugin=True) as made, made.gateway():
        made.model.reply = burning
        yield made


def burning(messages: list[Any]) -> str | ToolUse:
    """A model that calls as many tools as the report says, one after another.

    They are quick, and between several of one answer Hermes would rest for a second each: so many
    come within a minute on a busy machine too.
    """
    done = sum(each["role"] == "tool" for each in messages)
    if done >= CALLS:
        return ANSWER
    return step(done)


def step(number: int) -> ToolUse:
    """A tool that works, and does something else each time."""
    what = {"id": str(number), "content": f"step {number}", "status": "pending"}
    return ToolUse("todo", {"todos": [what]})


NOTHING = RunawayPolicy(messages=None, tokens=None, tool_calls=None, warn_messages=None)


def publish(home: Conversations, runaway: RunawayPolicy) -> None:
    """Call so much a loop; all else is as usual."""
    rules = Rulebook(spend=SpendRules(runaway=runaway))
    with Sexton(open_ledger(home.ledger), Settings(rulebook=rules)) as house:
        house.publish()


def written(home: Conversations, id: str) -> int:
    return int(home.sql("SELECT COUNT(*) FROM messages WHERE session_id = ?", id)[0][0])


def asked_for(home: Conversations, words: str) -> int:
    """How often the turn that somebody began with these words asked, without Hermes's review."""
    turns = [asked for asked in home.model.asked if words in str(asked)]
    return sum([each["role"] for each in asked].count("user") == 1 for asked in turns)


def test_a_loop_of_messages_ends_where_nobody_writes_and_pauses_where_somebody_does(
    home: Conversations,
) -> None:
    publish(home, replace(NOTHING, messages=LOOP))
    home.lab.run("cron", "run", home.lab.job("Go on"))
    [job] = [each for each in home.sessions() if each.source == "cron"]
    assert job.end_reason == "budget:runaway.messages"
    assert written(home, job.id) <= LOOP + 3 < MESSAGES
    assert home.say(ALICE, "Go on").count("[sexton]") == 1
    assert home.rows()[home.row_of(ALICE)] == (None,), "a conversation is paused"
    assert written(home, home.row_of(ALICE)) <= LOOP + 3
    publish(home, replace(NOTHING, tool_calls=LOOP))
    assert home.say(BOB, "Go on, said Bob").count("[sexton]") == 1
    assert asked_for(home, "said Bob") <= LOOP + 1 < CALLS


def test_tokens_are_stopped_at_a_million_in_a_minute_and_five_million_in_an_hour_unless_told(
    home: Conversations, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home.model, "usage", HUGE)
    size = HUGE["total_tokens"]
    publish(home, RunawayPolicy())
    assert "[sexton]" in home.say(CAROL, "Go on, said Carol")
    assert size * asked_for(home, "said Carol") <= 1_000_000 + size
    publish(home, NOTHING)
    assert "[sexton]" in home.say(DAVE, "Go on, said Dave")
    assert 0.8 * HOUR <= size * asked_for(home, "said Dave") <= HOUR + size
