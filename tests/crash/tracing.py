"""Kill a process when it is about to make its Nth system call of a kind."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from tests.kit.nursery import Child

ROOT = Path(__file__).parents[2]
CALLS = (
    "openat", "write", "pwrite64", "fsync", "fdatasync", "rename", "renameat", "renameat2",
    "linkat", "unlink", "unlinkat", "rmdir", "mkdir", "mkdirat", "ftruncate", "utimensat", "fchmod",
    "sendto",
)  # fmt: skip
"""What changes a file or speaks to a server."""
PATIENCE = 240.0
LONGEST = 120.0
"""After so many seconds whoever is watched is let go; it is waited for longer than that."""
ALIKE = 16
"""Of a call that is made more often than this, so many are met: the first, the last, and others."""

_LINE = re.compile(r"^(\d+) +(\w+)\(")


@cache
def tracer() -> tuple[str, ...] | None:
    """How to call strace; None if there is none or it may not look at other processes."""
    script = ROOT / "scripts" / "install_strace.sh"
    subprocess.run(["sh", script], check=False, timeout=300, stderr=subprocess.DEVNULL)
    own = ROOT / ".venvs" / "strace" / "usr"
    found = shutil.which("strace") or str(own / "bin" / "strace")
    libraries = ":".join(str(each) for each in own.glob("lib/*-linux-gnu"))
    call = ("env", f"LD_LIBRARY_PATH={libraries}", found) if libraries else (found,)
    return call if os.path.exists(found) and _may_look(call) else None


def _may_look(call: tuple[str, ...]) -> bool:
    with subprocess.Popen(["sleep", "30"]) as stranger:
        try:
            with _attached(call, stranger.pid, ()) as is_attached:
                return is_attached
        finally:
            stranger.kill()


@contextmanager
def killed_at(child: Child, call: str, number: int) -> Iterator[None]:
    """Let a child be killed at a system call; from inside on it is watched."""
    strace = tracer()
    assert strace is not None
    inject = ("-e", f"inject={call}:signal=SIGKILL:when={number}")
    with _attached(strace, child.pid, ("-e", f"trace={call}", *inject)) as is_attached:
        assert is_attached or not child.is_alive
        yield


def calls_of(child: Child, let_go: Callable[[], None], told: Path) -> Counter[str]:
    """How often a child makes each call until its end, as its busiest thread counts."""
    strace = tracer()
    assert strace is not None
    options = ("-e", f"trace={','.join(CALLS)}", "-o", str(told))
    with _attached(strace, child.pid, options) as is_attached:
        assert is_attached
        let_go()
        assert child.wait(LONGEST) == 0, child.lines()
    found: Counter[tuple[str, str]] = Counter()
    for line in told.read_text(errors="replace").splitlines():
        begun = _LINE.match(line)
        if begun:
            found[begun[1], begun[2]] += 1
    most: Counter[str] = Counter()
    for (_, call), times in found.items():
        most[call] = max(most[call], times)
    return most


def points_of(calls: Counter[str], chance: random.Random) -> list[tuple[str, int]]:
    """At which calls somebody is to be killed, each by its name and number, in any order."""
    points = []
    for call, times in sorted(calls.items()):
        first = range(1, min(times, ALIKE // 2) + 1)
        others = range(len(first) + 1, times)
        some = chance.sample(others, min(len(others), ALIKE - len(first) - 1))
        points += [(call, number) for number in {*first, *some, times}]
    chance.shuffle(points)
    return points


@contextmanager
def _attached(strace: tuple[str, ...], pid: int, options: tuple[str, ...]) -> Iterator[bool]:
    """Whether strace has a hold of the process; it lets go at the end of the block."""
    quiet = () if "-o" in options else ("-o", os.devnull)
    with subprocess.Popen(
        [*strace, "-f", "-qq", *quiet, *options, "-p", str(pid)], stderr=subprocess.DEVNULL
    ) as process:
        # Now and then it waits for ever for a thread of a process that was killed under it.
        watchdog = threading.Timer(LONGEST, process.kill)
        watchdog.start()
        try:
            deadline = time.monotonic() + PATIENCE
            while not _is_traced(pid) and process.poll() is None and time.monotonic() < deadline:
                threading.Event().wait(0.002)
            yield _is_traced(pid)
        finally:
            watchdog.cancel()
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()


def _is_traced(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    return "TracerPid:\t0\n" not in status
