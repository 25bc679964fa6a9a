"""Is it time to end? Remembered also while there is no keeper yet."""

from __future__ import annotations

import threading
from collections.abc import Callable

from sexton.keeper.keeper import Keeper
from sexton.keeper.services.sd_notify import Supervisor

STEP = 60.0
"""Seconds between two signs of life of a program that only waits."""


class UntilStopped:
    """Hands the wish to stop on to a keeper, and tells whoever started this program of it."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._lock = threading.Lock()
        self._supervisor = supervisor
        self._asked = threading.Event()
        self._keeper: Keeper | None = None

    def stop(self) -> None:
        """It is time to end."""
        with self._lock:
            self._asked.set()
            self._supervisor.stopping()
            if self._keeper is not None:
                self._keeper.stop()

    def hand_to(self, keeper: Keeper) -> None:
        """Let the keeper be stopped, at once if that was asked for already."""
        with self._lock:
            self._keeper = keeper
            if self._asked.is_set():
                keeper.stop()

    def wait(self, on_step: Callable[[], object]) -> None:
        """Do nothing until it is time."""
        while not self._asked.wait(STEP):
            on_step()
