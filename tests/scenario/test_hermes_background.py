"""What a Hermes home says of its background processes is told, and nothing is made of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sexton.integrations.hermes_plugin.guests import Guests
from sexton.integrations.hermes_plugin.plugin_background import Background
from sexton.integrations.hermes_plugin.trying import Trying
from sexton.processes.model import Doing
from sexton.processes.watched_processes import hints, of_session
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

    def __init__(self, *entries: tuple[str, int, str]) -> None:
        self._entries = {
            name: SimpleNamespace(exited=False, pid_scope="host", pid=pid, session_key=key)
            for name, pid, key in entries
        }

    def list_sessions(self) -> list[dict[str, str]]:
        return [{"session_id": name} for name in self._entries]

    def get(self, name: str) -> SimpleNamespace:
        return self._entries[name]


def test_inside_a_gateway_a_process_is_of_the_conversation_that_started_it(
    house: House,
    scene: HermesScene,
    server: subprocess.Popen[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whichever of several that are at it at once is done with its tool first."""
    other = TALK.replace("7", "8")
    for id, key in (("talk", TALK), ("other", other)):
        scene.start(id, "telegram", session_key=key)
    house.observe()
    elsewhere = ("p2", os.getpid(), "agent:main:telegram:dm:9")
    registry = Registry(("p1", server.pid, TALK), elsewhere)
    module = SimpleNamespace(process_registry=registry)
    monkeypatch.setitem(sys.modules, "tools.process_registry", module)
    with visit(house.sexton, scene.path, "hermes") as inside:
        guests = Guests(lambda: inside, house.clock.now)
        for id in ("talk", "other"):
            guests._held[id] = inside.hold(house.session(id))
        Background(guests, Trying(house.clock)).register("other")
    running = house.ledger.registry.running()
    assert [(each.session, each.identity.pid) for each in running] == [("talk", server.pid)]
