"""What Hermes goes on with after its end or a compression stays under its budgets and breaker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sexton.spending.model import Act, Scope, Unit
from tests.scenario.hermes_exits import rows
from tests.scenario.hermes_spender import Spender, budget, spender
from tests.scenario.hermes_turns import TURNS


@pytest.fixture
def home(furnished_python: Path, tmp_path: Path) -> Iterator[Spender]:
    with spender(furnished_python, tmp_path) as made:
        yield made


ENDED_ROWS = """
for id, source in (("talk", "api_server"), ("other", "api_server"), ("long", "cli")):
    home.create_session(id, source)
    home.append_message(id, "user", "Good morning")
said = [turn("first", "talk")]
home.end_session("talk", "session_reset")
said += [turn(f"later{number}", "talk") for number in range(5)]
home.end_session("other", "idle")  # before anybody has seen it
said += [turn(f"other{number}", "other") for number in range(5)]
home.end_session("long", "daily")
said += [turn("long", *["long"] * 12), turn("longer", "long")]
print(*said)
guests.leave()
"""


def test_what_hermes_asks_in_a_row_that_was_reset_counts_into_every_budget_of_the_ledger(
    home: Spender,
) -> None:
    home.publish(
        budget(Scope.SESSION, Unit.TOKENS, 2000, Act.KILL),
        budget(Scope.SOURCE, Unit.ITERATIONS, 8, Act.KILL, ["api_server"]),
        budget(Scope.TREE, Unit.MESSAGES, 6, sources=["cli"]),
    )
    said = home.lab.run_program(TURNS + ENDED_ROWS).stdout.split()
    assert [int(each) for each in said[:-2]] == [1] * 8 + [0] * 3
    assert 3 <= int(said[-2]) < 7, "each call is a message, and so is what began the turn"
    assert int(said[-1]) == 0
    assert home.spent_by_all("source.iterations") == 2 * 8, "one counter for both"
    assert {each.is_open for each in home.sessions()} == {False}, "nothing is opened again"
    assert {each.holders for each in home.sessions()} == {()}


COMPRESSED_SUBAGENT = """
def delegated(id, parent, by):
    config = {"_delegate_from": by}
    home.create_session(id, "subagent", parent_session_id=parent, model_config=config)
    home.append_message(id, "user", "Look under the stone")


home.create_session("person", "cli")
home.append_message("person", "user", "Delegate it")
turn("person", "person")
delegated("first", "person", "person")
delegated("nested", "first", "first")
before = turn("nested", "nested", platform="subagent")


def compressed(id, into):
    home.end_session(id, "compression")
    delegated(into, id, "person")


also = {"platform": "subagent", "compress": lambda: compressed("first", "next")}
turn("first", "first", *["next"] * 4, **also)
print(before, turn("nested again", "nested", platform="subagent"))
delegated("second", "person", "person")
also = {"platform": "subagent", "compress": lambda: compressed("second", "last")}
print(turn("second", "second", "last", **also))
turn("person again", *["person"] * 3)
print(turn("last", "last", platform="subagent"))
guests.leave()
"""


def test_what_ends_a_subagent_that_was_compressed_ends_the_subagents_from_before(
    home: Spender,
) -> None:
    home.publish(budget(Scope.SESSION, Unit.ITERATIONS, 3, Act.KILL))
    said = home.lab.run_program(TURNS + COMPRESSED_SUBAGENT).stdout.split()
    assert said == ["1", "0", "2", "0"]
    ends = {id: reason for id, (_, reason) in rows(home.lab.home).items()}
    reason = "budget:session.iterations"
    compressed = dict.fromkeys(("first", "second"), "compression")
    assert ends == {**compressed, **dict.fromkeys(("person", "nested", "next", "last"), reason)}


COMPRESSED = """
if sys.argv[1] == "first":
    home.create_session("talk", "cli")
    home.append_message("talk", "user", "Try")

    def compress():
        home.end_session("talk", "compression")
        home.create_session("next", "cli", parent_session_id="talk")
        home.append_message("next", "user", "A summary")

    turn("one", "talk", "next", tools=4, compress=compress)
    home.end_session("next", "compression")
    home.create_session("last", "cli", parent_session_id="next")
    home.append_message("last", "user", "A summary")
else:
    turn("three", "last", tools=2)
guests.leave()
"""


def test_a_breaker_goes_on_with_the_conversation_that_was_compressed(home: Spender) -> None:
    home.publish()
    home.lab.run_program(TURNS + COMPRESSED, "first")
    assert home.codes("pause") == []
    home.lab.run_program(TURNS + COMPRESSED, "then")
    assert home.codes("pause") == ["breaker:tool_errors"]


REPLACED = """
import os

from sexton.integrations.hermes_plugin.plugin_background import Background
from sexton.integrations.hermes_plugin.slash import Slash

slash = Slash(guests, Background(guests, trying), trying)
ledger, other = sys.argv[1:]
home.create_session("talk", "cli")
home.append_message("talk", "user", "Good morning")
said = [turn("first", "talk")]


def replace():
    for name in ("", "-wal", "-shm"):
        if os.path.exists(ledger + name):
            os.rename(ledger + name, ledger + name + ".old")


said.append(turn("second", "talk", "talk", "talk", compress=replace))
clock.advance(timedelta(seconds=REST + 1))
said.append(turn("while there is none", "talk"))
there = os.path.exists(ledger)
troubles = [line for line in slash().splitlines() if f"{clock.now():%Y-%m-%d %H:%M:%S}" in line]
os.rename(other, ledger)
clock.advance(timedelta(seconds=REST + 1))
said.append(turn("third", *["talk"] * 9))
print(*said, there, len(troubles), "trouble" in slash())
guests.leave()
"""


def test_a_ledger_that_was_replaced_is_asked_a_minute_later(home: Spender, tmp_path: Path) -> None:
    """And the trouble that it was is shown with its time, as long as it lasts."""
    home.publish(budget(Scope.SESSION, Unit.ITERATIONS, 100))
    other = Spender(home.lab, home.model, f"sqlite:///{tmp_path / 'other.db'}")
    other.publish(budget(Scope.SESSION, Unit.ITERATIONS, 5))
    file = home.ledger.removeprefix("sqlite:///")
    said = home.lab.run_program(TURNS + REPLACED, file, other.ledger.removeprefix("sqlite:///"))
    assert said.stdout.split() == ["1", "3", "1", "5", "False", "1", "False"]
    assert home.spent("session.iterations") == 5
