"""Real processes to be hurt: born in milliseconds, killed at will, believed in what they told.

    with Nursery("my_module") as nursery:
        child = nursery.start("my_module:append_for_ever", url)
        child.wait_for(lambda lines: len(lines) > 3)
        child.kill()
        print(child.lines())

A target is called with a `Report` and the given arguments. What it told is known to the last
line, however it ended. Ways to hurt a child are in `tests.kit.hurting`, and what must be
true of the ledger afterwards in `tests.kit.aftermath`.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from tests.kit.nursery_process import LONGEST, TAKEN, Report

__all__ = ["Child", "Nursery", "PidTaken", "Report"]

PATIENCE = 240.0
LONG_PATIENCE = 600.0
"""For a nursery, whose imports take long where every processor is busy."""


class PidTaken(Exception):
    """The wanted pid belongs to a process that is none of ours."""


class Child:
    """A process under test and everything it forked; `terminal` is our end of its terminal."""

    def __init__(
        self,
        pid: int,
        descriptor: int,
        collect: Callable[[int], int],
        terminal: int | None = None,
    ) -> None:
        self.pid = pid
        self.terminal = terminal
        self._collect = collect
        self._code: int | None = None
        self._lines: list[str] = []
        self._heard = threading.Condition()
        self._silent = False
        self._listener = threading.Thread(target=self._listen, args=(descriptor,), daemon=True)
        self._listener.start()

    def lines(self) -> list[str]:
        """What it has told so far; all of it once `wait` or `kill` has returned."""
        with self._heard:
            return list(self._lines)

    def wait_for(self, enough: Callable[[Sequence[str]], bool], seconds: float = PATIENCE) -> None:
        """Wait until it has told enough; a process that ends before that has failed."""
        with self._heard:
            self._heard.wait_for(lambda: enough(self._lines) or self._silent, seconds)
            if not enough(self._lines):
                state = "ended and" if self._silent else "has"
                raise AssertionError(f"process {self.pid} {state} told only {self._lines[-5:]}")

    def signal(self, which: signal.Signals) -> None:
        """Send a signal to it and its forks."""
        # Not collected yet, so the number still is its own.
        if self._code is None:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, which)

    def hang_up(self) -> None:
        """Close its terminal, as a lost connection or a closed window does."""
        if self.terminal is not None:
            os.close(self.terminal)
            self.terminal = None

    @property
    def is_alive(self) -> bool:
        """Whether it has not exited yet."""
        return self._code is None and not self._has_exited(0)

    def fall(self, seconds: float = PATIENCE) -> None:
        """Wait until it has exited; nobody has collected it before `wait`."""
        if self._code is None and not self._has_exited(seconds):
            raise AssertionError(f"process {self.pid} lives on; it told {self.lines()[-5:]}")

    def _has_exited(self, within: float) -> bool:
        descriptor = os.pidfd_open(self.pid)
        try:
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            return bool(poll.poll(within * 1000))
        finally:
            os.close(descriptor)

    def kill(self) -> None:
        """Kill it and its forks at this very moment."""
        self.signal(signal.SIGKILL)
        self.wait()

    def wait(self, seconds: float = PATIENCE) -> int:
        """Wait for its end; its exit code, or a signal's number below zero."""
        self._listener.join(seconds)
        if self._listener.is_alive():
            self.signal(signal.SIGKILL)
            raise AssertionError(f"process {self.pid} hangs; it told {self.lines()[-5:]}")
        if self._code is None:
            self._code = self._collect(self.pid)
        self.hang_up()
        return self._code

    def _listen(self, descriptor: int) -> None:
        with open(descriptor, encoding="utf-8", errors="replace") as pipe:
            for line in pipe:
                with self._heard:
                    self._lines.append(line.rstrip("\n"))
                    self._heard.notify_all()
        with self._heard:
            self._silent = True
            self._heard.notify_all()


class Nursery:
    """Starts children from a process that has imported the given modules already.

    When the starter dies in any way, so do the children. `environ` is added to theirs.
    """

    def __init__(self, *modules: str, environ: Mapping[str, str] | None = None) -> None:
        self._modules = modules
        self._environ = os.environ | dict(environ or {})
        self._children: list[Child] = []

    def __enter__(self) -> Self:
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._line.settimeout(LONG_PATIENCE)
        command = [sys.executable, "-m", "tests.kit.nursery_process", str(theirs.fileno())]
        with theirs:
            self._process = subprocess.Popen(
                [*command, *self._modules],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env=self._environ,
            )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for child in self._children:
            child.signal(signal.SIGKILL)
        self._line.close()
        self._process.wait(PATIENCE)

    def start(
        self,
        target: str,
        *arguments: str,
        environ: Mapping[str, str] | None = None,
        terminal: bool = False,
        pid: int | None = None,
    ) -> Child:
        """A new process that runs `module:function`, perhaps with a terminal or a certain pid.

        Raises `PermissionError` if pids can not be chosen here, `PidTaken` if somebody has it.
        """
        order = {"target": target, "arguments": arguments, "environ": dict(environ or {})}
        ours, theirs = os.pipe()
        near, far = os.openpty() if terminal else (None, None)
        handed = [theirs] if far is None else [theirs, far]
        try:
            socket.send_fds(self._line, [json.dumps(order | {"pid": pid}).encode()], handed)
        finally:
            for descriptor in handed:
                os.close(descriptor)
        born = self._answer()
        if born in (None, TAKEN):
            os.close(ours)
            if near is not None:
                os.close(near)
            if born == TAKEN:
                raise PidTaken(f"the pid {pid} belongs to somebody else")
            raise PermissionError(f"the pid {pid} can not be chosen on this machine")
        child = Child(born, ours, self._collect, near)
        self._children.append(child)
        return child

    def _collect(self, pid: int) -> int:
        self._line.send(json.dumps({"wait": pid}).encode())
        self._children = [child for child in self._children if child.pid != pid]
        code: int = self._answer()
        return code

    def _answer(self) -> Any:
        answer = self._line.recv(LONGEST)
        if not answer:
            raise RuntimeError("The nursery has ended; its error is above.")
        return json.loads(answer)
