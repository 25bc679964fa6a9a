"""What a Hermes home says of its background processes is told, and nothing is made of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sexton.integrations.hermes_plugin.guests import Guests
from sexton.integrations.hermes_plugin.plugin_turns import Turns
from sexton.integrations.hermes_plugin.slash import Slash
from sexton.integrations.hermes_plugin.trying import Trying
from sexton.integrations.hermes_plugin.wiring import Companion
from sexton.processes.model import Doing
from sexton.processes.watched_processes import hints, of_session
from sexton.spending.policy import SpendRules
from sexton.testing import ManualClock
from sexton.wiring.visitor import visit
from tests.scenario.hermes_home import HermesScene
from tests.scenario.hermes_house import House
from tests.unit.hermes_holding import ticks

TALK = "agent:main:telegram:dm:7"


@pytest.fixture
def house(tmp_path: Path, scene: HermesScene) -> Iterator[House]:
    opened = House(f"sqlite:///{tmp_path / 'ledger.db'}", scene.path)
    yield opened
    opened.sexton.close()


@pytest.fixture
def server() -> Iterator[subprocess.Popen[bytes]]:
    """A process that waits."""
    process = subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE
    )
    yield process
    assert process.stdin
    process.stdin.close()
    process.wait(240)


def entry(process: subprocess.Popen[bytes], **otherwise: Any) -> dict[str, Any]:
    """A process as Hermes writes it down."""
    return {
        "session_id": "proc_1", "command": "serve --token=secret", "pid": process.pid,
        "pid_scope": "host", "host_start_time": ticks(process.pid), "cwd": "/work",
        "started_at": 1.8e9, "task_id": "default", "session_key": TALK, **otherwise,
    }  # fmt: skip


def test_living_processes_of_the_file_are_told_with_their_session(
    house: House, scene: HermesScene, server: subprocess.Popen[bytes]
) -> None:
    scene.start("talk", "telegram", session_key=TALK)
    house.observe()
    gone = entry(server, host_start_time=1)
    sandboxed = entry(server, pid_scope="sandbox")
    written = [gone, sandboxed, "odd", {"pid": -1, "host_start_time": 5}, entry(server)]
    (scene.path / "processes.json").write_text(json.dumps(written))
    (found,) = hints(house.sexton.estate(), [])
    assert (found.process.identity.pid, found.process.session) == (server.pid, "talk")
    assert (found.process.home, found.process.registered_by) == ("work", "processes.json")
    assert found.process.command == "serve --token=***"
    assert found.doing is not Doing.DEAD
    assert not found.holds, "a hint holds nothing back"
    assert house.ledger.registry.running() == [], "and is not registered by it"


def test_a_session_is_shown_with_what_its_home_says_of_its_processes(
    house: House, scene: HermesScene, server: subprocess.Popen[bytes]
) -> None:
    scene.start("talk", "telegram", session_key=TALK)
    scene.start("other", "telegram", session_key=f"{TALK}0")
    house.observe()
    (scene.path / "processes.json").write_text(json.dumps([entry(server)]))
    shown = {
        id: [each.process.identity.pid for each in of_session(house.sexton.estate(), found)]
        for id in ("talk", "other")
        for found in [house.sexton.find(id)]
    }
    assert shown == {"talk": [server.pid], "other": []}


def test_what_our_own_registry_knows_is_not_told_twice(
    house: House, scene: HermesScene, server: subprocess.Popen[bytes]
) -> None:
    (scene.path / "processes.json").write_text(json.dumps([entry(server, session_key="?")]))
    (hint,) = hints(house.sexton.estate(), [])
    assert hint.process.session == "?"
    assert hints(house.sexton.estate(), [hint.process]) == []


@pytest.mark.parametrize("text", ["", "{broken", "{}", "[[]]", "null", "[" * 100_000])
def test_a_broken_file_says_nothing(house: House, scene: HermesScene, text: str) -> None:
    (scene.path / "processes.json").write_text(text)
    assert hints(house.sexton.estate(), []) == []


class Registry:
    """What Hermes's own registry of processes says."""

    def __init__(self, *entries: tuple[str, int, str, str]) -> None:
        self._entries = {
            name: SimpleNamespace(
                exited=False, pid_scope="host", pid=pid, task_id=task, session_key=key
            )
            for name, pid, task, key in entries
        }

    def list_sessions(self) -> list[dict[str, str]]:
        return [{"session_id": name} for name in self._entries]

    def get(self, name: str) -> SimpleNamespace:
        return self._entries[name]


@pytest.fixture
def begun(
    house: House, scene: HermesScene, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Companion]]:
    """A Hermes process that holds sessions `alice` and `bob` and has started processes."""
    with ExitStack() as visits:

        def begin(source: str, *entries: tuple[str, int, str, str], **keys: str) -> Companion:
            for id in ("alice", "bob"):
                scene.start(id, source, session_key=keys.get(id))
            house.observe()
            module = SimpleNamespace(process_registry=Registry(*entries))
            monkeypatch.setitem(sys.modules, "tools.process_registry", module)
            inside = visits.enter_context(visit(house.sexton, scene.path, "hermes"))
            guests = Guests(lambda: inside, house.clock.now)
            for id in ("alice", "bob"):
                guests._held[id] = inside.hold(house.session(id))
            guests._visitor = inside
            trying = Trying(house.clock)
            return Companion(guests, Turns(guests, trying, SpendRules), trying)

        yield begin


def owners(house: House) -> list[tuple[str, int]]:
    return [(each.session, each.identity.pid) for each in house.ledger.registry.running()]


def test_inside_a_gateway_a_process_is_of_the_conversation_that_started_it(
    begun: Callable[..., Companion], house: House, server: subprocess.Popen[bytes]
) -> None:
    """Whichever of several that are at it at once is done with its tool first."""
    elsewhere = ("p2", os.getpid(), "default", "agent:main:telegram:dm:9")
    inside = begun(
        "telegram", ("p1", server.pid, "default", TALK), elsewhere,
        alice=TALK, bob=TALK.replace("7", "8"),
    )  # fmt: skip
    inside.background.register("bob")
    assert owners(house) == [("alice", server.pid)]


@pytest.mark.parametrize(
    ("task", "key"),
    [("default", "run_1"), ("", "a header"), ("one", "run_1"), ("one", "")],
    ids=["run", "header", "task", "task alone"],
)
def test_inside_an_api_server_a_process_is_of_the_session_whose_call_started_it(
    begun: Callable[..., Companion],
    house: House,
    server: subprocess.Popen[bytes],
    *,
    task: str,
    key: str,
) -> None:
    """Its keys are those of runs and headers, and nobody else is told of the process."""
    inside = begun("api_server", ("p1", server.pid, task, key))
    polled = json.dumps({"session_id": "p1", "status": "running"})
    inside.after_tool(tool_name="process", result=polled, session_id="bob")
    inside.after_tool(tool_name="terminal", result='{"output": ""}', session_id="bob")
    assert owners(house) == []
    assert json.loads(inside.background.tell(session_id="bob"))["count"] == 0
    started = json.dumps({"output": "started", "session_id": "p1", "pid": server.pid})
    inside.after_tool(tool_name="terminal", result=started, session_id="alice")
    assert owners(house) == [("alice", server.pid)]
    assert json.loads(inside.background.tell(session_id="bob"))["count"] == 0


@pytest.mark.parametrize(("task", "key"), [("alice", "run_1"), ("default", "alice")])
def test_inside_an_api_server_the_task_or_else_the_key_may_name_the_session(
    begun: Callable[..., Companion],
    house: House,
    server: subprocess.Popen[bytes],
    *,
    task: str,
    key: str,
) -> None:
    inside = begun("api_server", ("p1", server.pid, task, key))
    inside.after_tool(tool_name="terminal", session_id="bob")
    assert owners(house) == [("alice", server.pid)]


@pytest.mark.parametrize(
    ("source", "key"), [("cli", "a turn"), ("api_server", "")], ids=["terminal", "nobody's"]
)
def test_what_no_other_session_can_have_started_is_of_the_one_that_called_a_tool(
    begun: Callable[..., Companion],
    house: House,
    server: subprocess.Popen[bytes],
    *,
    source: str,
    key: str,
) -> None:
    inside = begun(source, ("p1", server.pid, "default", key))
    inside.after_tool(tool_name="terminal", session_id="bob")
    assert owners(house) == [("bob", server.pid)]


def test_what_a_program_of_the_model_starts_is_of_its_session(
    begun: Callable[..., Companion], house: House, server: subprocess.Popen[bytes]
) -> None:
    """Hermes names the task of such a call, and no session."""
    inside = begun("api_server", ("p1", server.pid, "default", "run_1"))
    inside.turns.begin(session_id="alice", task_id="run_1", turn_id="turn", platform="api_server")
    started = json.dumps({"session_id": "p1", "pid": server.pid})
    inside.after_tool(tool_name="terminal", result=started, task_id="run_1")
    assert owners(house) == [("alice", server.pid)]


@pytest.mark.parametrize(("source", "told"), [("cli", 2), ("api_server", 0)])
def test_without_a_key_only_a_terminal_is_told_of_its_sessions(
    begun: Callable[..., Companion], source: str, told: int
) -> None:
    inside = begun(source)
    answer = Slash(inside.guests, inside.background, Trying(ManualClock()))()
    assert sum(id in answer for id in ("alice", "bob")) == told
