"""Threads that work beside the sweeps of a keeper, for as long as it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping


class Beside:
    """Starts each thread, and starts it again if it has died or could not be started."""

    def __init__(self, targets: Mapping[str, Callable[[], None]]) -> None:
        """By name; each of them survives what it meets, and returns when the keeper is stopped."""
        self._targets = dict(targets)
        self._threads: dict[str, threading.Thread] = {}

    def attend(self) -> None:
        """See that all of them run; RuntimeError if the system has no thread for one now."""
        for name, target in self._targets.items():
            thread = self._threads.get(name)
            if thread is None or not thread.is_alive():
                thread = threading.Thread(target=target, name=name, daemon=True)
                thread.start()
                self._threads[name] = thread

    def join(self, name: str) -> None:
        """Wait until one of them has returned, if it was ever started."""
        thread = self._threads.get(name)
        if thread is not None:
            thread.join()
