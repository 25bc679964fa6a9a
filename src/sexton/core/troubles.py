"""What a thread that must live says in the log about the exceptions it has survived.

Of what an exception says only the first line is logged. PostgreSQL quotes rows and statements in
later lines, and the exception keeps all of them, so a traceback is logged as text without it.
"""

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
LONGEST = 200
"""Characters of an exception's first line that are logged."""


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
                trace = _trace(trouble) if trouble and self._is_first(kind, trouble) else ""
                say(self._log, f"{text}{_words(trouble)}{trace}", self._level)

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


def say(log: str, text: str, level: str = "warning") -> None:
    """Log a line; loads nothing, so without logging the line goes where that would write."""
    logging = sys.modules.get("logging")
    if logging is None:
        sys.stderr.write(f"{text}\n")
    else:
        getattr(logging.getLogger(log), level)("%s", text)


def _words(trouble: BaseException | None) -> str:
    if trouble is None:
        return ""
    kind, words = type(trouble).__name__, str(trouble).strip().partition("\n")[0][:LONGEST]
    if isinstance(trouble, SextonError):
        return f": {words}"
    return f": {words} ({kind})" if words else f": {kind}"


def _trace(trouble: BaseException) -> str:
    """Where an exception comes from, and those it followed from by their types; no values."""
    from traceback import format_tb  # noqa: PLC0415  # loaded with `logging`, see above

    text, seen = "", set()
    cause: BaseException | None = trouble
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        text += f"\n{type(cause).__name__}, from:\n{''.join(format_tb(cause.__traceback__))}"
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return text.rstrip()
