"""What was asked a moment ago need not be asked again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from sexton.core.machine_ports import Clock

T = TypeVar("T")

SHARE = 10
"""An answer that took long is good for so many times as long, whatever happens meanwhile."""


class Remembered(Generic[T]):
    """An answer that is asked for at most every so many seconds; who comes meanwhile waits for it.

    With another `about` than before it is asked for anew as soon as its cost allows.
    """

    def __init__(self, ask: Callable[[], T], clock: Clock, seconds: float) -> None:
        self._ask = ask
        self._clock = clock
        self._seconds = seconds
        self._lock = threading.Lock()
        self._known: tuple[T, object, float, float] | None = None

    def __call__(self, about: object = None) -> T:
        with self._lock:
            known = self._known
            if known is None or self._is_old(known[1:], about):
                begun = self._clock.monotonic()
                answer = self._ask()
                ended = self._clock.monotonic()
                known = (answer, about, ended, SHARE * (ended - begun))
                self._known = known
            return known[0]

    def _is_old(self, known: tuple[object, float, float], about: object) -> bool:
        before, asked, rest = known
        passed = self._clock.monotonic() - asked
        return passed >= rest and (before != about or passed >= self._seconds)
