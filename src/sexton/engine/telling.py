"""How does a lasting trouble fill no log?"""

from __future__ import annotations

import logging
import threading

from sexton.ports import Clock

TELL_EVERY = 60.0
"""Seconds between two lines about the same trouble."""


class Telling:
    """Logs warnings, at most one a minute about the same thing; for any number of threads."""

    def __init__(self, log: logging.Logger, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._lock = threading.Lock()
        self._told: dict[str, float] = {}

    def __call__(self, about: str, words: str, *values: object, exc_info: bool = False) -> None:
        now = self._clock.monotonic()
        with self._lock:
            if now - self._told.get(about, float("-inf")) < TELL_EVERY:
                return
            self._told[about] = now
        self._log.warning(words, *values, exc_info=exc_info)
