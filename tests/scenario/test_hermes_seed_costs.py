"""The session that burned, inside a real Hermes: its messages, its tool calls and its tokens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sexton.bootstrap import Sexton
from sexton.ledger.opening import open_ledger
from sexton.policies.rulebook import Rulebook
from sexton.policies.spend import RunawayPolicy, SpendRules
from sexton.settings.values import Settings
from tests.scenario.fake_model import ANSWER, ToolUse
from tests.scenario.hermes_gateway import ALICE, BOB, Conversations, conversations

MESSAGES, CALLS = 602, 209
"""What the session of the report came to in 107 seconds."""
AT_ONCE = 9
LOOP = 60
HUGE = {"prompt_tokens": 100, "completion_tokens": 400_000, "total_tokens": 400_100}
HOUR = 5_000_000
"""What a tree of sessions may spend in an hour, if nobody says otherwise."""


@pytest.fixture
def home(furnished_python: Path, tmp_path: Path) -> Iterator[Conversations]:
    with conversations(furnished_python, tmp_path, plugin=True) as made:
        made.model.reply = burning
        yield made


def burning(messages: list[Any]) -> str | list[ToolUse]:
    """A model that calls many tools at once, until it has as many as the report says."""
    done = sum(each["role"] == "tool" for each in messages)
    if done >= CALLS:
        return ANSWER
    return [ToolUse("terminal", {"command": f"echo {done + each}"}) for each in range(AT_ONCE)]


def publish(home: Conversations, **runaway: Any) -> None:
    """Call so much a loop, and nothing else."""
    rules = RunawayPolicy(**{"messages": None, "tokens": None, "tool_calls": None, **runaway})
    with Sexton(
        open_ledger(home.ledger), Settings(rulebook=Rulebook(spend=SpendRules(runaway=rules)))
    ) as house:
        house.publish()


def written(home: Conversations, id: str) -> int:
    return int(home.sql("SELECT COUNT(*) FROM messages WHERE session_id = ?", id)[0][0])


def test_a_loop_of_messages_ends_where_nobody_writes_and_pauses_where_somebody_does(
    home: Conversations,
) -> None:
    publish(home, messages=LOOP)
    home.lab.run("cron", "run", home.lab.job("Go on"))
    [job] = home.sessions()
    assert job.end_reason == "budget:runaway.messages"
    assert written(home, job.id) <= LOOP + AT_ONCE + 2 < MESSAGES
    with home.gateway():
        assert home.say(ALICE, "Go on").count("[sexton]") == 1
        assert home.rows()[home.row_of(ALICE)] == (None,), "a conversation is paused"
        assert written(home, home.row_of(ALICE)) <= LOOP + AT_ONCE + 2
        publish(home, tool_calls=LOOP)
        assert home.say(BOB, "Go on").count("[sexton]") == 1


def test_tokens_are_stopped_at_a_million_in_a_minute_and_five_million_in_an_hour_unless_told(
    home: Conversations,
) -> None:
    home.model.usage = HUGE
    size = HUGE["total_tokens"]
    with home.gateway():
        assert "[sexton]" in home.say(ALICE, "Go on")
        assert size * len(home.model.asked) <= 1_000_000 + size
        publish(home)
        home.model.asked.clear()
        assert "[sexton]" in home.say(BOB, "Go on")
        assert 0.8 * HOUR <= size * len(home.model.asked) <= HOUR + size
