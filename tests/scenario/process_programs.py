"""Real programs for tests about processes, each started with a tag, and all ended afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil

from sexton.core.clock import SystemClock
from sexton.core.record import replace
from sexton.liveness.process_identity import SystemProcesses, pidfs_inode, start_tick
from sexton.processes.hunting import Hunt
from sexton.processes.masking import masked
from sexton.processes.model import TAG_VARIABLE, Process, ProcessKind
from sexton.processes.process_table import ZOMBIES, read_command, read_row
from sexton.processes.stopping import Stopper

PATIENCE = 240.0

BURN = "while True: pass"
WAIT = "import signal; signal.pause()"
STUBBORN = """
import signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
while True: signal.pause()
"""
HEADLESS = """
import ctypes, threading
def work():
    while True: sum(range(1000))
threading.Thread(target=work).start()
ctypes.CDLL(None).pthread_exit(None)
"""
"""One whose first thread ends; the process goes on, although its state says zombie."""
ROLL = """
import os, sys, time
end = time.monotonic() + 120
while time.monotonic() < end and os.path.exists(sys.argv[2]):
    if os.fork(): os._exit(0)
    time.sleep(float(sys.argv[1]))
"""
"""One that is never there for long: it goes on as its own child while a file is there."""
STEP = """
import os, sys, time
while sys.stdin.readline():
    before = os.getpid()
    if os.fork(): os._exit(0)
    while os.getppid() == before: time.sleep(0.001)
    print(flush=True)
"""
"""One that goes on as its own child whenever it reads a line, and says so when it has."""
TREE = """
import os, signal, sys
wanted, place = int(sys.argv[1]), sys.argv[2]
def settle():
    open(os.path.join(place, str(os.getpid())), "w").close()
    signal.pause()
for number in range(wanted):
    if os.fork() == 0:
        if number % 2:
            os.setsid()
            if os.fork():
                os._exit(0)  # its child is nobody's now
        if number % 5 == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            while True: settle()
        settle()
    if number % 2:
        os.wait()
settle()
"""
"""So many processes below one; half of them have left the tree, a fifth are deaf to TERM."""


def eventually(condition: Callable[[], object]) -> bool:
    """Whether the condition comes true soon."""
    for _ in range(int(PATIENCE * 50)):
        if condition():
            return True
        time.sleep(0.02)
    return False


def lives(pid: int) -> bool:
    """Whether a process exists and has not exited."""
    row = read_row(pid)
    return row is not None and row.state not in ZOMBIES


def is_headless(pid: int) -> bool:
    """Whether the first thread of a process has ended."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def rests(pid: int) -> bool:
    """Whether a process has started and waits: asleep, and no work done for a moment."""
    process = psutil.Process(pid)
    before = process.cpu_times()
    asleep = process.status() == psutil.STATUS_SLEEPING
    time.sleep(0.1)
    return asleep and process.status() == psutil.STATUS_SLEEPING and process.cpu_times() == before


def runs(pid: int, program: str) -> bool:
    """Whether a process has become that program."""
    return read_command(pid)[0] == program


def registered(pid: int, **facts: Any) -> Process:
    """A process as the registry would know it."""
    started = start_tick(pid)
    assert started is not None
    given: dict[str, Any] = {
        "ref": pid,
        "session": "s",
        "task": None,
        "kind": ProcessKind.JOB,
        "command": masked(read_command(pid)),
        "cwd": "/",
        "started_at": datetime.now(UTC),
        "identity": replace(
            SystemProcesses().myself(), pid=pid, started=started, inode=pidfs_inode(pid)
        ),
    }
    return Process(**(given | facts))


class Nest:
    """Starts programs that share a tag."""

    def __init__(self) -> None:
        self.tag = os.urandom(16).hex()
        self._started: list[subprocess.Popen[bytes]] = []

    def python(self, script: str, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
        """Run a script with the tag in its environment."""
        return self.run([sys.executable, "-c", script, *arguments], **options)

    def run(self, arguments: list[str], **options: Any) -> subprocess.Popen[bytes]:
        """Run a program with the tag in its environment."""
        environ = options.pop("env", os.environ) | {TAG_VARIABLE: self.tag}
        self._started.append(subprocess.Popen(arguments, env=environ, **options))
        return self._started[-1]

    def end(self) -> None:
        for each in self._started:
            each.kill()
            each.wait()
            for pipe in (each.stdin, each.stdout, each.stderr):
                if pipe is not None:
                    pipe.close()
        Stopper(SystemClock()).drive_out(Hunt(tags=[self.tag]), timedelta())


@contextmanager
def nesting() -> Iterator[Nest]:
    """A nest of which nothing is left afterwards."""
    nest = Nest()
    try:
        yield nest
    finally:
        nest.end()
