"""A chat that has grown beyond its limit is not reset while somebody has it open in a terminal."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from sexton.core.plan import Held
from sexton.keeper.explain import explain
from sexton.settings.settings_values import HomeSetting
from sexton.wiring import Sexton
from tests.kit.apart import may_live_apart
from tests.layers import unavailable
from tests.scenario.fake_model import ANSWER
from tests.scenario.finalizers_scene import wait_until
from tests.scenario.hermes_gateway import ALICE, HOME, Conversations, conversations
from tests.scenario.hermes_lab import Terminal

WHERE = pytest.mark.parametrize("plugin", [False, True], ids=["outside", "inside"])
GATEWAY = pytest.mark.parametrize("serving", [True, False], ids=["served", "unserved"])


@contextmanager
def bounded(home: Conversations) -> Iterator[Sexton]:
    """A keeper that bounds every chat at four messages."""
    setting = HomeSetting(path=home.lab.home, name=HOME, act=True, max_messages=4)
    with home.sexton(homes=(setting,)) as house:
        yield house


APART = """
import json
from pathlib import Path
from sexton.settings.settings_values import HomeSetting, Settings
from sexton.store.opening import open_ledger
from sexton.wiring import Sexton

def held(report, ledger, path, name):
    home = HomeSetting(path=Path(path), name=name, act=True, max_messages=4)
    with Sexton(open_ledger(ledger), Settings(homes=(home,))) as house:
        house.sweep()
        found = [(each.holding.code, each.holding.text) for each in house.plan().held]
    report.tell(json.dumps(found))
"""


def from_apart(home: Conversations, scratch: Path) -> list[list[str]]:
    """What a keeper holds back that runs in a container of its own and can see no terminal."""
    if not may_live_apart():
        unavailable("no pid namespace can be had on this machine")
    (scratch / "sweeping.py").write_text(APART)
    code = (
        "import sys; from tests.kit.apart import apart; "
        "from tests.kit.nursery_process import Report; "
        "apart(Report(1), 'sweeping:held', *sys.argv[1:])"
    )
    asked = subprocess.run(
        [sys.executable, "-c", code, home.ledger, str(home.lab.home), HOME],
        env=os.environ | {"PYTHONPATH": os.pathsep.join((str(scratch), *sys.path))},
        capture_output=True,
        check=True,
        timeout=240,
    )
    found: list[list[str]] = json.loads(asked.stdout.splitlines()[-1])
    return found


def swept(house: Sexton) -> list[str]:
    """Why a sweep has ended something."""
    outcomes = house.sweep().outcomes
    return [each.action.reason.code for each in outcomes if each.action.kind == "end"]


def say(home: Conversations, terminal: Terminal, words: str) -> None:
    """Ask something in the terminal, and wait until question and answer are stored."""
    query = (
        "SELECT role FROM messages WHERE id >"
        " (SELECT MAX(id) FROM messages WHERE role = 'user' AND content LIKE ?)"
    )
    terminal.type(words)

    def stored() -> bool:
        terminal.read()
        return ("assistant",) in home.sql(query, f"%{words}%")

    wait_until(stored)


@WHERE
@GATEWAY
def test_a_chat_that_is_open_in_a_terminal_is_reset_for_its_size_once_that_is_gone(
    furnished_python: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    *,
    serving: bool,
    plugin: bool,
) -> None:
    caplog.set_level(logging.INFO, "sexton.keeper")
    with conversations(furnished_python, tmp_path, plugin=plugin) as home, ExitStack() as open_:
        with ExitStack() as serves:
            serves.enter_context(home.gateway())
            assert home.say(ALICE, "Good morning") == ANSWER
            grown = home.row_of(ALICE)
            if serving:
                open_.enter_context(serves.pop_all())
        house = open_.enter_context(bounded(home))
        with home.lab.terminal("--resume", grown, "--yolo") as terminal:
            terminal.wait_for("❯")
            say(home, terminal, "And now here")
            wait_until(lambda: [each.holding.code for each in _held(house)] == ["terminal"])
            (held,) = house.plan().held
            assert (held.wanted.code, held.holding.code) == ("max_messages", "terminal")
            assert str(terminal.pid) in held.holding.text
            lines = [each.getMessage() for each in caplog.records if each.levelno == logging.INFO]
            assert any(grown in each and str(terminal.pid) in each for each in lines)
            session = house.find(f"{HOME}/{grown}")
            said = {each.question: each for each in explain(house.estate(), session).answers}
            assert said["reset"].answer == "held"
            assert str(terminal.pid) in said["reset"].detail
            say(home, terminal, "Still there?")
            assert swept(house) == []
            held_apart = from_apart(home, tmp_path)
            assert [each for each, _ in held_apart] == ["terminal"]
            assert str(terminal.pid) not in held_apart[0][1]
            assert home.rows() == {grown: (None,)}
            terminal.process.kill()  # one that is left in good order ends its row itself
            terminal.process.wait()
        wait_until(lambda: swept(house) == ["max_messages"])
        assert home.rows() == {grown: ("session_reset",)}


@WHERE
def test_a_terminal_that_is_known_to_be_in_another_session_holds_no_chat_back(
    furnished_python: Path, tmp_path: Path, *, plugin: bool
) -> None:
    """Only the plugin tells which session a terminal is in; without it each may be in any."""
    with (
        conversations(furnished_python, tmp_path, plugin=plugin) as home,
        home.gateway(),
        bounded(home) as house,
        home.lab.terminal("--yolo") as terminal,
    ):
        terminal.wait_for("❯")
        say(home, terminal, "I have a session of my own")
        for words in ("Good morning", "Good evening"):
            home.say(ALICE, words)
        grown = home.row_of(ALICE)
        if plugin:
            wait_until(lambda: swept(house) == ["max_messages"])
            assert home.rows()[grown] == ("session_reset",)
        else:
            wait_until(lambda: [each.holding.code for each in _held(house)] == ["terminal"])
            assert home.rows()[grown] == (None,)
        say(home, terminal, "And I am still in it")
        assert sorted(home.rows().values(), key=str) == sorted(
            [(None,), ("session_reset" if plugin else None,)], key=str
        )


def _held(house: Sexton) -> tuple[Held, ...]:
    assert swept(house) == []
    return house.plan().held
