"""How do the sessions of a process end with it, however it ends?"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType

GRACE = 5.0
"""So many seconds Hermes has to end by itself after a signal that it does not know."""

CAUGHT = (signal.SIGTERM, signal.SIGHUP)


def heed_signals(is_needed: Callable[[], bool], settle: Callable[[], None]) -> None:
    """Let Hermes's own last steps run where a signal would end it at once.

    What Hermes or somebody else has a handler for, or ignores, stays as it is.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for number in CAUGHT:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _leaving(is_needed, settle))


def _leaving(
    is_needed: Callable[[], bool], settle: Callable[[], None]
) -> Callable[[int, FrameType | None], None]:
    def leave(number: int, _frame: FrameType | None) -> None:
        if not is_needed():
            _end_by(number)
        watch = threading.Thread(target=_end_late, args=(number, settle), daemon=True)
        watch.start()
        raise SystemExit(128 + number)

    return leave


def _end_late(number: int, settle: Callable[[], None]) -> None:
    """A thread that still waits for a model must not keep alive what was told to end."""
    threading.Event().wait(GRACE)
    settle()
    _end_by(number)


def _end_by(number: int) -> None:
    if threading.current_thread() is threading.main_thread():
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(128 + number)
