"""What a thread that must live says in the log about the exceptions it has survived."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from sexton.errors.mendable import SextonError

FIRST_PAUSE = 60.0
LONGEST_PAUSE = 3600.0
OVER = 600.0
"""A kind of trouble that was not met for so many seconds is over: the next one is news."""
MOST_KINDS = 256


class Troubles:
    """One line for each kind of trouble: at once, after a minute, two, four, up to an hour.

    A kind is the thing that failed and the type of the exception, so a message that varies is no
    news. With `traced`, the first line of a kind that is no SextonError has the traceback. For any
    number of threads; never raises, also when there is no memory or descriptor left.
    """

    def __init__(
        self,
        log: str,
        monotonic: Callable[[], float] = time.monotonic,
        *,
        level: str = "warning",
        traced: bool = False,
    ) -> None:
        self._log = log
        self._monotonic = monotonic
        self._level = level
        self._lock = threading.Lock()
        self._met: dict[str, tuple[float, float, float]] = {}  # last, told at, pause after that
        self._traced: set[str] | None = set() if traced else None
        if traced:
            # What a traceback is made with; the thread itself may have no descriptor to load it.
            import ast  # noqa: F401, PLC0415
            import logging  # noqa: F401, PLC0415
            import tokenize  # noqa: F401, PLC0415

    def __call__(self, about: str, text: str, trouble: BaseException | None = None) -> None:
        """Log the text and what the exception says, unless a line of its kind was logged lately."""
        with suppress(Exception):
            kind = about if trouble is None else f"{about}: {type(trouble).__name__}"
            if self._is_due(kind, self._monotonic()):
                traced = trouble if self._is_first(kind, trouble) else None
                say(self._log, f"{text}{_words(trouble)}", self._level, traced)

    def _is_due(self, kind: str, now: float) -> bool:
        with self._lock:
            last, told, pause = self._met.get(kind, (now, now, 0.0))
            if now - last >= OVER:
                pause = 0.0
            is_due = now - told >= pause
            if is_due:
                told, pause = now, min(max(2 * pause, FIRST_PAUSE), LONGEST_PAUSE)
            if len(self._met) >= MOST_KINDS:  # kinds come from types, so this hardly ever happens
                self._met.clear()
            self._met[kind] = (now, told, pause)
            return is_due

    def _is_first(self, kind: str, trouble: BaseException | None) -> bool:
        if self._traced is None or trouble is None or isinstance(trouble, SextonError):
            return False
        if kind in self._traced:
            return False
        self._traced.add(kind)
        return True


def say(log: str, text: str, level: str = "warning", traced: BaseException | None = None) -> None:
    """Log a line; loads nothing, so without logging the line goes where that would write."""
    logging = sys.modules.get("logging")
    if logging is None:
        sys.stderr.write(f"{text}\n")
    else:
        getattr(logging.getLogger(log), level)("%s", text, exc_info=traced)


def _words(trouble: BaseException | None) -> str:
    if trouble is None:
        return ""
    kind, words = type(trouble).__name__, str(trouble)
    if isinstance(trouble, SextonError):
        return f": {words}"
    return f": {words} ({kind})" if words else f": {kind}"
