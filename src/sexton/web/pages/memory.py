"""What was asked a moment ago need not be asked again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from sexton.ports import Clock

T = TypeVar("T")


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
