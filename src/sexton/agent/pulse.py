"""How fast does a session go, as this process sees it?"""

from __future__ import annotations

import threading
from collections.abc import Callable

from sexton.policies.runaway import WINDOW, Beat, Excess, excess, joined, without
from sexton.policies.spend import RunawayPolicy


class Pulse:
    """What happened in the last minute, second by second; safe to share between threads."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._lock = threading.RLock()
        self._beats: list[Beat] = []
        self._minute = Beat(0.0)

    def beat(self, *, messages: int = 0, tokens: int = 0, tool_calls: int = 0) -> None:
        """Count what has just happened."""
        beat = Beat(self._monotonic(), messages, tokens, tool_calls)
        with self._lock:
            beats = self._beats
            if beats and int(beats[-1].at) == int(beat.at):
                beats[-1] = joined(beats[-1], beat)
            else:
                beats.append(beat)
            self._minute = joined(self._minute, beat)
            self._forget(beat.at)

    def excess(self, policy: RunawayPolicy) -> Excess | None:
        """What has run away, or None."""
        with self._lock:
            self._forget(self._monotonic())
            return excess(self._minute, policy)

    def _forget(self, now: float) -> None:
        while self._beats and now - self._beats[0].at >= WINDOW:
            self._minute = without(self._minute, self._beats.pop(0))
