"""Is a process that the launcher of the tests forks like one that was started?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import layers
from tests.scenario.hermes_starting import Started, start

PATIENCE = 240.0
PROBE = """
import json, os, signal, site, sys, sysconfig
print(json.dumps({
    "words": open("/proc/self/cmdline").read(), "around": open("/proc/self/environ").read(),
    "environ": dict(os.environ), "argv": sys.argv, "orig": sys.orig_argv, "path": sys.path,
    "exe": os.readlink("/proc/self/exe"), "cwd": os.getcwd(), "files": os.listdir("/proc/self/fd"),
    "sites": site.getsitepackages(), "purelib": sysconfig.get_path("purelib"),
    "prefix": [sys.prefix, sys.exec_prefix], "executable": sys.executable, "mask": os.umask(0o22),
    "streams": [[s.encoding, s.errors, s.line_buffering, s.name, s.mode]
                for s in (sys.stdin, sys.stdout, sys.stderr)],
    "signals": [str(signal.getsignal(s)) for s in sorted(signal.valid_signals())],
    "blocked": [int(s) for s in signal.pthread_sigmask(signal.SIG_BLOCK, [])],
    "leads": os.getsid(0) == os.getpid(), "limits": open("/proc/self/limits").read(),
}))
"""


@pytest.fixture(autouse=True)
def _forking() -> None:
    if sys.platform != "linux":
        layers.unavailable("a launcher forks on Linux only")


def probed(process: Started, said: Path) -> Any:
    assert process.wait(PATIENCE) == 0
    return json.loads(said.read_text())


@pytest.mark.parametrize("session", [False, True])
def test_a_fork_finds_what_a_start_finds(
    furnished_python: Path, tmp_path: Path, *, session: bool
) -> None:
    command = [str(furnished_python), "-c", PROBE, "one", "two words", ""]
    environment = {"LC_ALL": "C.UTF-8", "HERMES_HOME": str(tmp_path), "ODD": "ö\n="}
    found = []
    for start_one in (start, plainly):
        said = tmp_path / "said"
        with open(os.devnull) as nothing, said.open("w") as output:
            streams = (nothing.fileno(), output.fileno(), output.fileno())
            process = start_one(command, environment, tmp_path, streams, session=session)
            found.append(probed(process, said))
    assert found[0] == found[1]


def plainly(
    command: list[str], environment: Any, cwd: Path, streams: tuple[int, ...], *, session: bool
) -> Started:
    stdin, stdout, stderr = streams
    return subprocess.Popen(
        command, stdin=stdin, stdout=stdout, stderr=stderr, env=environment, cwd=cwd,
        start_new_session=session,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("pass", 0),
        ("raise SystemExit(3)", 3),
        ("raise ValueError", 1),
        ("import os; os._exit(7)", 7),
        ("import os; os.kill(os.getpid(), 9)", -9),
    ],
)
def test_a_fork_ends_with_the_code_of_its_program(
    hermes_python: Path, tmp_path: Path, program: str, code: int
) -> None:
    assert forked(hermes_python, tmp_path, program).wait(PATIENCE) == code


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
def test_a_signal_ends_a_fork_and_nobody_else(
    hermes_python: Path, tmp_path: Path, number: int
) -> None:
    killed, spared = (waiting(hermes_python, tmp_path / name) for name in ("killed", "spared"))
    killed.send_signal(number)
    assert killed.wait(PATIENCE) == -number
    assert spared.poll() is None
    spared.kill()
    assert spared.wait(PATIENCE) == -signal.SIGKILL


def forked(python: Path, place: Path, program: str) -> Started:
    with open(os.devnull, "r+b") as nothing:
        streams = (nothing.fileno(),) * 3
        return start([str(python), "-c", program], dict(os.environ), place, streams)


def waiting(python: Path, ready: Path) -> Started:
    os.mkfifo(ready)
    program = f"open({str(ready)!r}, 'w').close(); import signal; signal.pause()"
    process = forked(python, ready.parent, program)
    ready.read_text()
    return process
