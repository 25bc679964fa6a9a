"""What is said to a program and heard from it while it runs?"""

from __future__ import annotations

import os
import selectors
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import TracebackType
from typing import Self

from sexton.core.machine_ports import Clock
from sexton.finalizers.effects.fork_safety import closed

TAIL = 2000
PIECE = 65_536
LAST_READS = 32
LOOK_EVERY = 0.05
"""Where the kernel does not report the end of a process."""


class Talk:
    """Feeds a program's input and keeps the tail of its output.

    Only the program itself counts: whoever inherited its pipes is not waited for, and one that
    does not want to hear everything need not.
    """

    def __init__(self, process: subprocess.Popen[bytes], pieces: Iterator[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.tail = b""
        self._process = process
        self._pieces = pieces
        self._pending = memoryview(b"")
        self._input, self._output = process.stdin, process.stdout
        self._watched = selectors.DefaultSelector()
        self._death = os.pidfd_open(process.pid) if hasattr(os, "pidfd_open") else None

    def __enter__(self) -> Self:
        for pipe in (self._input, self._output):
            os.set_blocking(pipe.fileno(), False)
        self._watch(self._input.fileno(), selectors.EVENT_WRITE, self._say)
        self._watch(self._output.fileno(), selectors.EVENT_READ, self._hear)
        if self._death is not None:
            self._watch(self._death, selectors.EVENT_READ, lambda: False)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._watched.close()
        for pipe in (self._input, self._output):
            if not pipe.closed:
                closed(pipe.fileno(), pipe.close)
        if self._death is not None:
            os.close(self._death)

    def until_exit(self, clock: Clock, end: float) -> int | None:
        """The exit code, below zero for a signal; None if it runs on at that time."""
        while self._process.poll() is None:
            left = end - clock.monotonic()
            if left <= 0:
                return None
            ready = self._watched.select(min(left, LOOK_EVERY) if self._death is None else left)
            for key, _ in ready:
                key.data()
        for _ in range(LAST_READS):
            if self._output.closed or not self._hear():
                break
        return self._process.returncode

    def _watch(self, descriptor: int, event: int, act: Callable[[], bool]) -> None:
        self._watched.register(descriptor, event, act)

    def _say(self) -> bool:
        """Write what fits; the input is closed at the end, or when nobody reads any more."""
        if not self._pending:
            piece = next(self._pieces, None)
            if piece is None:
                return self._part_with(self._input.fileno(), self._input.close)
            self._pending = memoryview(piece)
        try:
            self._pending = self._pending[os.write(self._input.fileno(), self._pending[:PIECE]) :]
        except BlockingIOError:
            return False
        except BrokenPipeError:
            return self._part_with(self._input.fileno(), self._input.close)
        return True

    def _hear(self) -> bool:
        """Read what there is; whether there may be more."""
        try:
            heard = os.read(self._output.fileno(), PIECE)
        except BlockingIOError:
            return False
        if not heard:
            return self._part_with(self._output.fileno(), self._output.close)
        self.tail = (self.tail + heard)[-TAIL:]
        return True

    def _part_with(self, descriptor: int, close: Callable[[], None]) -> bool:
        with suppress(KeyError):
            self._watched.unregister(descriptor)
        closed(descriptor, close)
        return False
