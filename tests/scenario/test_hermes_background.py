"""What a Hermes home says of its background processes is told, and nothing is made of it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sexton.engine.process_view import hints
from sexton.model.process import Doing
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
    process.wait(30)


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
