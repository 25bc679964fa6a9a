"""How much is done at once, so that nobody who writes meanwhile waits long?"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sexton.core.machine_ports import Clock

AIM = 0.008
"""Seconds for which the ledger may be locked in one go."""

REST = 0.5
"""For this share of the time it was locked it is left alone then."""

CHECKPOINT_EVERY = 3
"""After so many times the log is copied into the file, so that nobody's commit has to."""


class Size:
    """How many go at once, by how long the last ones took."""

    def __init__(self, *, least: int, most: int) -> None:
        self._least = least
        self._most = most
        self.now = least

    def learn(self, count: int, seconds: float) -> None:
        """Take so many next time as fit into the aim, but not many more or less than now."""
        if count:
            fitting = round(AIM * count / max(seconds, 1e-6))
            self.now = min(max(fitting, self.now // 2, self._least), 2 * self.now, self._most)


class Pace:
    """Locks the ledger for a short time, then leaves it alone for a while."""

    def __init__(self, clock: Clock, checkpoint: Callable[[], None] = lambda: None) -> None:
        """`checkpoint` runs while others may write, every few times."""
        self._clock = clock
        self._checkpoint = checkpoint
        self._held = 0
        self._free_until = float("-inf")
        self._free = threading.Event()
        self._free.set()
        self.sessions = Size(least=50, most=1000)
        self.messages = Size(least=1000, most=20_000)

    @contextmanager
    def hold(self, size: Size, count: int) -> Iterator[None]:
        """Around a change of so many; what is done between two of them counts as rest."""
        now = self._clock.monotonic()
        if now < self._free_until:
            self._clock.sleep(self._free_until - now)
        begun = self._clock.monotonic()
        self._free.clear()
        try:
            yield
        finally:
            self._free.set()
            ended = self._clock.monotonic()
            self._free_until = ended + REST * (ended - begun)
            size.learn(count, ended - begun)
        self._held += 1
        if self._held % CHECKPOINT_EVERY == 0:
            self._checkpoint()

    def give_way(self) -> None:
        """Wait while the ledger is locked: who works meanwhile would only keep it locked longer.

        For the thread that copies ahead; both share one interpreter.
        """
        self._free.wait(AIM)
