"""How is a keeper told to stop by a signal?"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sexton.core.troubles import Troubles

STOPPING = (signal.SIGTERM, signal.SIGINT)
RETRY = 1.0
TRIES = 60


@contextmanager
def stopped_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` in another thread when this process is asked to end; it then ends by itself.

    The kernel's word goes through a pipe: a handler that took a lock itself could wait for ever
    for the very thread it interrupted.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    listener = threading.Thread(
        target=_listen, args=(reader, stop), name="sexton-signals", daemon=True
    )
    listener.start()
    former = {each: signal.signal(each, _note_only) for each in STOPPING}
    former_descriptor = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(former_descriptor)
        for each, handler in former.items():
            signal.signal(each, handler)
        os.close(writer)
        listener.join()
        os.close(reader)


def _note_only(number: int, frame: object) -> None:
    """Keeps the signal from ending the process; the pipe carries it on."""


def _listen(reader: int, stop: Callable[[], None]) -> None:
    while received := os.read(reader, 64):
        if any(number in received for number in STOPPING):
            _insist(stop)


def _insist(stop: Callable[[], None]) -> None:
    """Stop, and try again if that fails: the signal may come only once."""
    troubles = Troubles("sexton.cli")
    for _ in range(TRIES):
        try:
            stop()
        except Exception as trouble:  # noqa: BLE001  # a program that nobody can end
            troubles("stop", "the program could not be told to stop", trouble)
            time.sleep(RETRY)
        else:
            return
