"""`sexton demo`: a damaged home is made, examined, repaired and undone, and nothing is left."""

from __future__ import annotations

import os
import pty
import re
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from sexton.cli.demo import PROMPT
from sexton.cli.demo.acts import ACTS
from sexton.cli.demo.servers import preview_servers
from sexton.processes.listening import Ports
from tests.golden import golden
from tests.surface.program import PATIENCE, call, environment, program

pytestmark = pytest.mark.slow
ASKED = PROMPT.strip("\n").encode()


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a program's temporary files go."""
    place = tmp_path / "scratch"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return place


def test_without_a_terminal_it_goes_through_to_the_end_and_leaves_nothing(scratch: Path) -> None:
    answer = call("demo", SEXTON_LEDGER=str(scratch / "mine.db"))
    assert answer.code == 0, answer.err
    acts = re.findall(r"^\$ .*\n.*$", answer.out, re.MULTILINE)
    assert len(acts) == len(ACTS)
    golden("demo", "the acts and the end", "\n".join((*acts, answer.out.splitlines()[-1])))
    assert "sexton apply --home demo" in answer.out
    assert re.search(r"stop \d+ && .* stop \d+\n", answer.out), "the servers hold back a reset"
    assert PROMPT not in answer.out
    lines = [line.split() for line in answer.out.splitlines()]
    for figures in ("sessions 3 049 3 049", "open 887 887", "file bytes 94 MB 94 MB"):
        assert figures.split() in lines
    before, now = [words for words in lines if words[:1] == ["files"] and len(words) == 3]
    assert before[:2] == now[:2] == ["files", "728"]
    assert int(before[2]) < 728
    assert now[2] == "728"
    told = [words for words in lines if words[:1] == ["findings"]]
    assert told[-1][1] == told[-1][2], "everything is as it was"
    assert list(scratch.iterdir()) == []
    assert _servers(scratch) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_whoever_ends_it_the_servers_end_with_it(scratch: Path, number: signal.Signals) -> None:
    parent, child = pty.openpty()  # on a terminal it waits, with its servers at work
    with subprocess.Popen(
        program("demo"), env=environment(TERM="xterm"), stdin=child, stdout=child, stderr=child
    ) as demo:
        os.close(child)
        _read_until(parent, ASKED)
        assert len(_servers(scratch)) == 2
        demo.send_signal(number)
        demo.wait(PATIENCE)
    os.close(parent)
    _until(lambda: _servers(scratch) == [])
    if number is signal.SIGTERM:
        assert list(scratch.iterdir()) == []


def test_on_a_terminal_it_waits_between_the_acts_and_ends_when_asked(scratch: Path) -> None:
    parent, child = pty.openpty()
    with subprocess.Popen(
        program("demo"), env=environment(TERM="xterm"), stdin=child, stdout=child, stderr=child
    ) as demo:
        os.close(child)
        assert ACTS[0].command.encode() in _read_until(parent, ASKED)
        os.write(parent, b"\n")
        assert ACTS[1].command.encode() in _read_until(parent, ASKED)
        os.write(parent, b"q\n")
        assert demo.wait(PATIENCE) == 0
    os.close(parent)
    assert list(scratch.iterdir()) == []


def test_a_home_can_be_kept_but_never_over_another(scratch: Path, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.mkdir()
    answer = call("demo", "--keep", str(taken))
    assert answer.code != 0
    golden("errors", "a place for a demonstration is taken", answer.err)
    assert _servers(scratch) == []


def test_the_servers_of_a_demonstration_listen_on_ports_of_their_own(tmp_path: Path) -> None:
    with preview_servers(tmp_path) as servers:
        ports = Ports().of({(each.pid, each.ticks) for each in servers})
        commands = [shlex.join(psutil.Process(each.pid).cmdline()) for each in servers]
        assert commands == [each.command for each in servers]
    assert [len(ports[each.pid]) for each in servers] == [1, 1]
    assert len(set(ports.values())) == 2
    assert _servers(tmp_path) == []


def _servers(place: Path) -> list[int]:
    """The servers of a demonstration below that place that still run."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        words = process.info["cmdline"] or []
        if words[1:3] == ["-m", "http.server"] and str(place) in words[-1]:
            found.append(process.pid)
    return found


def _read_until(terminal: int, words: bytes) -> bytes:
    seen = b""
    while words not in seen:
        seen += os.read(terminal, 10_000)
    return seen


def _until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.02)
