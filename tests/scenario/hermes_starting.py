"""Starts processes of Hermes: forked by a launcher that has imported much already, where it can."""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

LAUNCHER = Path(__file__).with_name("hermes_launcher.py")
START = """
import sys
sys.path[0] = sys.argv[1]
import hermes_launcher
del sys.path[0]
hermes_launcher.run(hermes_launcher.serve(int(sys.argv[2])))
"""
OWN = """
import json, sys
names = ("path", "prefix", "exec_prefix", "executable")
print(json.dumps({name: getattr(sys, name) for name in names}))
"""
BARE = {"LC_ALL": "C.UTF-8"}
"""The environment of what forks: nothing that one test has set and another has not."""
PATIENCE = 240.0


class Forked:
    """A process that a launcher has forked; what `subprocess.Popen` says of one, this says too."""

    def __init__(self, told: socket.socket, args: Sequence[str]) -> None:
        text, [self._process], _, _ = socket.recv_fds(told, 64, 1)
        self.args = args
        self.pid = int(text)
        self.returncode: int | None = None
        self._told = told

    def poll(self) -> int | None:
        """Its exit code, if it has ended."""
        if self.returncode is None and select.select([self._told], [], [], 0)[0]:
            self._end()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end."""
        if self.returncode is None:
            if not select.select([self._told], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self._end()
        assert self.returncode is not None
        return self.returncode

    def _end(self) -> None:
        code = self._told.recv(64)
        assert code, "the launcher has ended"
        self.returncode = int(code)
        self._told.close()
        os.close(self._process)

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it ends, and the launcher has not said so yet
                signal.pidfd_send_signal(self._process, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


Started = subprocess.Popen[bytes] | Forked


class Launcher:
    """A running launcher of one Hermes."""

    def __init__(self, python: str) -> None:
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [python, "-c", START, str(LAUNCHER.parent), str(theirs.fileno())],
                stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()],
                env=BARE,
            )  # fmt: skip
        atexit.register(self._end)
        self.is_able = bool(self._requests.recv(64))

    def _end(self) -> None:
        self._requests.close()
        self._process.wait()

    def start(
        self, command: Sequence[str], environment: Mapping[str, str], cwd: Path,
        streams: Sequence[int], *, session: bool,
    ) -> Forked:  # fmt: skip
        """Fork a process that is as if it had been started with this command."""
        request = {
            "command": command, "environment": environment, "cwd": str(cwd), "session": session,
            "interpreter": _interpreter(command[0]),
            "ignored": [
                number
                for number in signal.valid_signals()
                if signal.getsignal(number) == signal.SIG_IGN
            ],
        }  # fmt: skip
        told, teller = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with teller:
            files = [*streams, teller.fileno()]
            socket.send_fds(self._requests, [json.dumps(request).encode()], files)
        return Forked(told, command)


_launcher = cache(Launcher)


@cache
def _interpreter(python: str) -> dict[str, Any]:
    """What is the interpreter's own, of environments that are links to one Hermes."""
    asked = [python, "-P", "-c", OWN]
    told = subprocess.run(asked, env=BARE, capture_output=True, timeout=PATIENCE, check=True)
    return dict(json.loads(told.stdout))


def _home(python: str) -> str:
    """The interpreter of the environment in which its Hermes is installed."""
    [site, *_] = [Path(each) for each in _interpreter(python)["path"] if _has_hermes(each)]
    return str(site.parents[2] / "bin" / "python")


def _has_hermes(folder: str) -> bool:
    return (Path(folder) / "hermes_cli").is_dir()


def start(
    command: Sequence[str], environment: Mapping[str, str], cwd: Path,
    streams: Sequence[int], *, session: bool = False,
) -> Started:  # fmt: skip
    """Start a program of Hermes's interpreter with these three streams."""
    if sys.platform == "linux":
        launcher = _launcher(_home(command[0]))
        if launcher.is_able:
            return launcher.start(command, environment, cwd, streams, session=session)
    stdin, stdout, stderr = streams
    return subprocess.Popen(
        command, stdin=stdin, stdout=stdout, stderr=stderr, env=environment, cwd=cwd,
        start_new_session=session,
    )  # fmt: skip


def run(
    command: Sequence[str], environment: Mapping[str, str], cwd: Path
) -> subprocess.CompletedProcess[str]:
    """Run a program of Hermes's interpreter to its end, which is to be a good one."""
    with open(os.devnull) as nothing, TemporaryFile() as output, TemporaryFile() as errors:
        streams = [file.fileno() for file in (nothing, output, errors)]
        process = start(command, environment, cwd, streams)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        said = [_text(file) for file in (output, errors)]
    done = subprocess.CompletedProcess(command, process.wait(), *said)
    done.check_returncode()
    return done


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()
