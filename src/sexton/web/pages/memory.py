"""What was asked a moment ago need not be asked again; how did a number go since we serve?"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from datetime import datetime
from typing import Generic, TypeVar

from sexton.ports import Clock

T = TypeVar("T")

POINTS = 240


class Remembered(Generic[T]):
    """An answer that is asked for at most every so many seconds; who comes meanwhile waits for it.

    With another `about` than before it is asked for anew.
    """

    def __init__(self, ask: Callable[[], T], clock: Clock, seconds: float) -> None:
        self._ask = ask
        self._clock = clock
        self._seconds = seconds
        self._lock = threading.Lock()
        self._known: tuple[float, object, T] | None = None

    def __call__(self, about: object = None) -> T:
        with self._lock:
            now = self._clock.elapsed()
            known = self._known
            if known is None or known[1] != about or now - known[0] >= self._seconds:
                known = (now, about, self._ask())
                self._known = known
            return known[2]


class Trends:
    """Numbers since this server was started, one for each few seconds."""

    def __init__(self, clock: Clock, every: float = 15.0) -> None:
        self._clock = clock
        self._every = every
        self._lock = threading.Lock()
        self._taken = float("-inf")
        self._points: dict[str, deque[float]] = {}
        self.since: datetime = clock.now()

    def add(self, numbers: dict[str, float]) -> None:
        """Note how things stand now; the newest point is always of now."""
        with self._lock:
            now = self._clock.elapsed()
            is_new = now - self._taken >= self._every
            self._taken = now if is_new else self._taken
            for name, number in numbers.items():
                points = self._points.setdefault(name, deque(maxlen=POINTS))
                if points and not is_new:
                    points.pop()
                points.append(number)

    def of(self, name: str) -> list[float]:
        """How a number went, oldest first."""
        with self._lock:
            return list(self._points.get(name, ()))
