"""How often may somebody try to log in?"""

from __future__ import annotations

import threading

from sexton.core.machine_ports import Clock

BURST = 5
EVERY = 12.0
"""Seconds after which one more attempt is allowed."""
MOST_KNOWN = 1000


class Attempts:
    """Failed attempts by address: a few at once, then one every now and then."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failed: dict[str, tuple[float, float]] = {}

    def wait(self, address: str) -> float:
        """For how many seconds the address has to wait before it may try; 0 if it may now."""
        with self._lock:
            return max(0.0, (self._failures(address) - BURST + 1) * EVERY)

    def failed(self, address: str) -> None:
        """Count an attempt that failed."""
        with self._lock:
            failures = self._failures(address) + 1
            self._failed.pop(address, None)
            while len(self._failed) >= MOST_KNOWN:
                self._failed.pop(next(iter(self._failed)))
            self._failed[address] = failures, self._clock.elapsed()

    def _failures(self, address: str) -> float:
        count, since = self._failed.get(address, (0.0, 0.0))
        return max(0.0, count - (self._clock.elapsed() - since) / EVERY)
