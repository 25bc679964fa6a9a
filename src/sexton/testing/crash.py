"""Real processes to be hurt: born in milliseconds, killed at will, believed in what they told.

    with Nursery("my_module") as nursery:
        child = nursery.start("my_module:append_for_ever", url)
        child.wait_for(lambda lines: len(lines) > 3)
        child.kill()
        print(child.lines())

A target is called with a `Report` and the given arguments. What it told is known to the last
line, however it ended.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from sexton.testing.crash_nursery import LONGEST, Report

__all__ = ["Child", "Nursery", "Report"]

PATIENCE = 60.0


class Child:
    """A process under test and everything it forked."""

    def __init__(self, pid: int, descriptor: int, collect: Callable[[int], int]) -> None:
        self.pid = pid
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
        """Wait until it has told enough, or has nothing more to tell."""
        with self._heard:
            if not self._heard.wait_for(lambda: enough(self._lines) or self._silent, seconds):
                raise AssertionError(f"process {self.pid} told only {self._lines[-5:]}")

    def signal(self, which: signal.Signals) -> None:
        """Send a signal to it and its forks."""
        # Not collected yet, so the number still is its own.
        if self._code is None:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, which)

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

    When the starter dies in any way, so do the children.
    """

    def __init__(self, *modules: str) -> None:
        self._modules = modules
        self._children: list[Child] = []

    def __enter__(self) -> Self:
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._line.settimeout(PATIENCE)
        command = [sys.executable, "-m", "sexton.testing.crash_nursery", str(theirs.fileno())]
        with theirs:
            self._process = subprocess.Popen(
                [*command, *self._modules], pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL
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

    def start(self, target: str, *arguments: str) -> Child:
        """A new process that runs `module:function`."""
        ours, theirs = os.pipe()
        order = json.dumps({"target": target, "arguments": arguments}).encode()
        try:
            socket.send_fds(self._line, [order], [theirs])
        finally:
            os.close(theirs)
        child = Child(self._answer(), ours, self._collect)
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
