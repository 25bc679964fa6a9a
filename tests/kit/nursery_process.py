"""The process in which a nursery's children are born: everything is imported, nothing is open."""

from __future__ import annotations

import fcntl
import importlib
import json
import os
import signal
import socket
import sys
import termios
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.kit.starving import STARVED, starve

LONGEST = 65_536
EXITED = 70
"""The exit code of a child that was told to call `os._exit`."""
EXIT, STARVE = signal.SIGUSR1, signal.SIGUSR2
"""Signals by which a child is told to end itself."""
LAST_PID = Path("/proc/sys/kernel/ns_last_pid")
ATTEMPTS = 200
TAKEN = -1


class Report:
    """A child's line to whoever started it; what it tells is known even after a SIGKILL."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def tell(self, *words: object) -> None:
        """Say one short line; threads and forked children may do so at the same time."""
        os.write(self._descriptor, (" ".join(map(str, words)) + "\n").encode())


def serve(line: socket.socket) -> None:
    """Fork what is asked for and collect what has ended, until the other side is gone."""
    born: set[int] = set()
    try:
        # An answer that nobody hears means the same as no further order.
        with suppress(BrokenPipeError):
            while _obey(line, born):
                pass
    finally:
        for pid in born:
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)


def _obey(line: socket.socket, born: set[int]) -> bool:
    """Carry out one order; False if there is none any more."""
    order, descriptors, _, _ = socket.recv_fds(line, LONGEST, 2)
    if not order:
        return False
    asked = json.loads(order)
    if "wait" in asked:
        _, status = os.waitpid(asked["wait"], 0)
        born.discard(asked["wait"])
        line.send(json.dumps(os.waitstatus_to_exitcode(status)).encode())
        return True
    pid = _fork(asked["pid"])
    if pid == 0:
        line.close()
        _live(asked, descriptors)
    for descriptor in descriptors:
        os.close(descriptor)
    if pid not in (None, TAKEN):
        born.add(pid)
        _see_it_lead(pid, alone=len(descriptors) == 1)
    line.send(json.dumps(pid).encode())
    return True


def _fork(wanted: int | None) -> int | None:
    """Fork, as the process with the wanted pid if there is one.

    None if pids can not be chosen here, `TAKEN` if somebody else has this one.
    """
    if wanted is None:
        return os.fork()
    for _ in range(ATTEMPTS):
        if Path(f"/proc/{wanted}").exists():  # a thread has a number of the same kind
            return TAKEN
        try:
            LAST_PID.write_text(str(wanted - 1))
        except OSError:
            return None
        pid = os.fork()
        if pid == 0 and os.getpid() != wanted:
            os._exit(0)
        if pid in (0, wanted):
            return pid
        os.waitpid(pid, 0)  # somebody else was born in between
    return TAKEN


def _live(asked: dict[str, Any], descriptors: list[int]) -> None:
    """Be a child: do what the target does, then exit without any tidying of the nursery's."""
    code = 1
    try:
        _settle(asked["environ"], descriptors[1:])
        module, _, name = asked["target"].partition(":")
        program: Callable[..., None] = getattr(importlib.import_module(module), name)
        program(Report(descriptors[0]), *asked["arguments"])
        code = 0
    finally:
        if code and starve.done:
            code = STARVED
        elif code:
            traceback.print_exc()
        with suppress(MemoryError):
            sys.stderr.flush()
        os._exit(code)


def _settle(environ: dict[str, str], terminal: list[int]) -> None:
    """Get a group and perhaps a terminal of its own, and learn the ways to end."""
    if terminal:
        os.setsid()
        fcntl.ioctl(terminal[0], termios.TIOCSCTTY, 0)
        os.close(terminal[0])
    else:
        _lead_a_group(0)
    os.environ.update(environ)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever started us may ignore it
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(EXIT, lambda *_: os._exit(EXITED))
    signal.signal(STARVE, lambda *_: starve())
    if "libfaketime" in os.environ.get("LD_PRELOAD", ""):
        # Where it fakes the wall clock alone, it breaks the kernel call behind `time.sleep`.
        setattr(time, "sleep", lambda seconds: threading.Event().wait(seconds))  # noqa: B010


def _see_it_lead(pid: int, *, alone: bool) -> None:
    """Return once the child leads its group; one with a terminal has to take the lead itself."""
    if alone:
        _lead_a_group(pid)
    for _ in range(ATTEMPTS * 1000):  # where every processor is busy, this may take a while
        if os.getpgid(pid) == pid:
            return
        threading.Event().wait(0.001)


def _lead_a_group(pid: int) -> None:
    """Put the child in a group of its own, so that it and its forks can be killed together."""
    with suppress(PermissionError, ProcessLookupError):
        os.setpgid(pid, pid)


if __name__ == "__main__":
    # An interrupt is for whoever started us, whose end is ours.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for needed in sys.argv[2:]:
        importlib.import_module(needed)
    with socket.socket(fileno=int(sys.argv[1])) as opened:
        serve(opened)
