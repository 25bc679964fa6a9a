"""`sexton processes` on what the file of a Hermes home says, without the plugin."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sexton.errors import ProcessesRunning
from sexton.homes.hermes.kernel import began
from sexton.liveness.process_identity import start_tick
from sexton.processes.model import Ending
from tests.scenario.hermes_home import HermesScene
from tests.scenario.process_programs import eventually, lives
from tests.surface.program import Cli

TALK = "agent:main:telegram:dm:7"
WITH_A_CHILD = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"],
                         stdin=subprocess.PIPE)
print(child.pid, flush=True)
child.wait()
"""


class Tree:
    """A process that has started another one, as a shell of Hermes has."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", WITH_A_CHILD]
        self.began = time.time()
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout
        self.pid, self.child = self._process.pid, int(self._process.stdout.readline())

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def tree() -> Iterator[Tree]:
    made = Tree()
    yield made
    made.end()


@pytest.fixture
def home(cli: Cli, scene: HermesScene) -> Path:
    """A home with two chats that the ledger knows."""
    scene.start("talk", "telegram", session_key=TALK)
    scene.start("other", "telegram", session_key=f"{TALK}0")
    scene.close()
    cli.ok("plan", "--home", str(scene.path))
    return scene.path


def write(home: Path, tree: Tree, **otherwise: Any) -> None:
    """What Hermes writes down of the process."""
    entry = {
        "session_id": "proc_1", "command": "serve --token=hunter2", "pid": tree.pid,
        "pid_scope": "host", "host_start_time": start_tick(tree.pid), "cwd": "/work",
        "started_at": tree.began, "task_id": "default", "session_key": TALK,
    }  # fmt: skip
    (home / "processes.json").write_text(json.dumps([entry | otherwise]))


def listed(cli: Cli, *more: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cli("processes", "list", "--json", *more).items()
    return found


def test_what_a_home_names_is_listed_with_its_session_and_explained(
    cli: Cli, home: Path, tree: Tree
) -> None:
    write(home, tree)
    [found] = listed(cli)
    assert (found["pid"], found["session"], found["home"]) == (tree.pid, "talk", "hermes")
    assert "hunter2" not in str(found)
    assert [each["pid"] for each in listed(cli, "--session", "hermes/talk")] == [tree.pid]
    assert listed(cli, "--session", "hermes/other") == []
    told = cli("why", "hermes/talk", "--json").json()["answers"]
    assert [each["detail"].count(str(tree.pid)) for each in told if each["question"] == "process"]


def test_a_reset_is_refused_beside_what_a_home_names_and_done_without_or_by_force(
    cli: Cli, home: Path, tree: Tree
) -> None:
    write(home, tree)
    settings = home.parent / "sexton.yaml"
    settings.write_text(yaml.safe_dump({"homes": [{"path": str(home), "act": True}]}))
    asked = ("sessions", "reset", "hermes/talk", "--json", "--config", str(settings))
    refused = cli(*asked)
    assert (refused.code, refused.error()["error"]) == (24, ProcessesRunning.__name__)
    assert "hunter2" not in refused.err
    other = (*asked[:2], "hermes/other", *asked[3:])
    assert cli(*other).code == 0, "it has none"
    assert cli(*asked, "--force").code == 0
    assert lives(tree.pid)


def test_it_is_stopped_with_its_children_also_unattended(cli: Cli, home: Path, tree: Tree) -> None:
    write(home, tree)
    done = cli("processes", "stop", str(tree.pid), "--yes", "--json").json()
    assert {each["pid"]: each["result"] for each in done["processes"]} == {
        tree.pid: str(Ending.TERM), tree.child: str(Ending.TERM),
    }  # fmt: skip
    assert eventually(lambda: not lives(tree.child))
    journal = cli("journal", "--receipt", done["receipt"], "--json").items()
    assert {(each["home"], each["session"]) for each in journal} == {("hermes", "talk")}
    assert listed(cli) == []


@pytest.mark.parametrize(
    "otherwise",
    [{"host_start_time": 1}, {"pid_scope": "sandbox"}],
    ids=["another start", "a sandbox's"],
)
def test_a_number_that_is_somebody_elses_now_is_nobodys_process(
    cli: Cli, home: Path, tree: Tree, otherwise: dict[str, Any]
) -> None:
    write(home, tree, **otherwise)
    assert listed(cli) == []
    assert cli("processes", "stop", str(tree.pid), "--yes").code != 0
    assert lives(tree.pid)


def test_whoever_writes_the_file_names_no_process_of_somebody_else(
    cli: Cli, home: Path, tree: Tree
) -> None:
    """With the rights of another user Sexton would end for them what they can not end."""
    write(home, tree)
    if os.getuid() == 0:
        os.chown(home / "processes.json", 4711, 4711)
        pid = tree.pid
    else:
        pid = 1  # that of root
        write(home, tree, pid=pid, host_start_time=start_tick(pid), started_at=began(pid))
    assert listed(cli) == []
    assert cli("processes", "stop", str(pid), "--yes").code != 0
    assert lives(pid)


@pytest.mark.parametrize("moment", [0, 1, -1, 1e30, "now", None, float("nan"), True])
def test_a_start_at_no_moment_is_no_proof(cli: Cli, home: Path, tree: Tree, moment: object) -> None:
    write(home, tree, started_at=moment)
    assert cli("processes", "stop", str(tree.pid), "--yes").code != 0
    assert lives(tree.pid)
    assert lives(tree.child)


def test_a_start_tick_of_another_boot_is_no_proof(cli: Cli, home: Path, tree: Tree) -> None:
    """Its number and tick fit, but it did not start when the home says: nobody is signalled."""
    write(home, tree, started_at=tree.began - 7 * 86_400)
    assert [each["pid"] for each in listed(cli)] == [tree.pid]
    assert cli("processes", "stop", str(tree.pid), "--yes").code != 0
    assert lives(tree.pid)
    assert lives(tree.child)
