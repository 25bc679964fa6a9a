"""The turns that run in this process, and what their ends still have to tell the ledger.

A turn whose end the ledger did not hear, as its server was restarted, must not stay busy for
ever. The ends are not repeated one by one, since nobody knows which of them arrived: the worker
compares the number of turns that run here with the number that the ledger has.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sexton.errors import LedgerError, SextonError

if TYPE_CHECKING:
    from sexton.agent.desk import Desk
    from sexton.agent.turn import Turn

ATTEMPTS = 20
"""How often a recount is tried at once while turns begin and end; then the next heartbeat does."""


class Turns:
    """The running turns of one worker; thread-safe."""

    def __init__(self) -> None:
        self._begin()

    def _check_fork(self) -> None:
        """In a forked child, what runs and what is late is its parent's."""
        if self._pid != os.getpid():
            self._begin()

    def _begin(self) -> None:
        # A signal handler may begin a turn of its own in the middle of these few lines.
        self._lock = threading.RLock()
        self._pid = os.getpid()
        self._running: set[Turn] = set()
        self._moving = 0
        self._moves = 0
        self._late: list[Callable[[], object]] = []

    def __iter__(self) -> Iterator[Turn]:
        return iter(tuple(self._running))

    def add(self, turn: Turn) -> None:
        self._running.add(turn)

    def discard(self, turn: Turn) -> None:
        self._running.discard(turn)

    @contextmanager
    def moving(self) -> Iterator[None]:
        """Around the beginning or the end of a turn: the ledger and this process may differ."""
        self._check_fork()
        with self._lock:
            self._moving += 1
        try:
            yield
        finally:
            with self._lock:
                self._moving -= 1
                self._moves += 1

    def at_rest(self) -> tuple[int, tuple[Turn, ...]] | None:
        """A number that rises with every move, and the turns; None while a turn moves."""
        self._check_fork()
        with self._lock:
            return None if self._moving else (self._moves, tuple(self._running))

    def later(self, job: Callable[[], object]) -> None:
        """Have a job repeated until the ledger could be reached; it must be safe to repeat."""
        with self._lock:
            self._late.append(job)

    def repeat(self) -> None:
        """Do what is late; LedgerError if the ledger still cannot be reached."""
        self._check_fork()
        while self._late:
            with self._lock:
                job = self._late.pop() if self._late else None
            if job is None:
                return
            try:
                job()
            except LedgerError:
                self.later(job)
                raise
            except SextonError:
                continue  # the ledger answered, and it cannot be done


def catch_up(desk: Desk) -> None:
    """Tell the ledger what it did not hear of the turns that have ended here."""
    turns = desk.turns
    turns.repeat()
    for _ in range(ATTEMPTS):
        before = turns.at_rest()
        marked = desk.ledger.workers.busy(desk.worker)
        if not marked or _recounted(desk, before, marked):
            return


def _recounted(
    desk: Desk, before: tuple[int, tuple[Turn, ...]] | None, marked: dict[int, int]
) -> bool:
    """Correct the marks; False if turns began or ended meanwhile, so that they say nothing."""
    if before is None:
        return False
    running = Counter(turn.ref() for turn in before[1])
    wrong = {ref: count for ref, count in marked.items() if count > running[ref]}
    if wrong and _has_moved(desk, before):
        return False
    for ref, count in wrong.items():
        # Whatever begins or ends from here on changes the count, and then nothing is corrected.
        desk.ledger.workers.recount(desk.worker, ref, count, running[ref])
    return True


def _has_moved(desk: Desk, before: tuple[int, tuple[Turn, ...]]) -> bool:
    """Whether a turn of this process has begun or ended since."""
    now = desk.turns.at_rest()
    return now is None or now[0] != before[0]
