"""The turns that run in this process, and what their ends still have to tell the ledger.

A turn whose end the ledger did not hear, as its server was restarted, must not stay busy for
ever. The ends are not repeated one by one, since nobody knows which of them arrived: the worker
compares the number of turns that run here with the number that the ledger has.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sexton.core.locks import shared_lock
from sexton.errors import LedgerError, SextonError

if TYPE_CHECKING:
    from sexton.liveness.registered_workers import RegisteredWorkers
    from sexton.sessions.turn import Turn

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
        self._lock = shared_lock()
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
            except BaseException as trouble:
                if isinstance(trouble, SextonError) and not isinstance(trouble, LedgerError):
                    continue  # the ledger answered, and it cannot be done
                self.later(job)
                raise


def catch_up(turns: Turns, workers: RegisteredWorkers, worker: str) -> None:
    """Tell the ledger what it did not hear of the turns of a worker that have ended here."""
    turns.repeat()
    for _ in range(ATTEMPTS):
        before = turns.at_rest()
        marked = workers.busy(worker)
        if not marked:
            return
        if before is None:
            continue
        wrong = _wrong(before[1], marked)
        if wrong and turns.at_rest() != before:
            continue  # turns began or ended meanwhile, so that the marks say nothing
        for ref, (count, running) in wrong.items():
            # A turn that begins or ends from here on changes the count: nothing is corrected then.
            workers.recount(worker, ref, count, running)
        return


def _wrong(turns: tuple[Turn, ...], marked: dict[int, int]) -> dict[int, tuple[int, int]]:
    """Sessions that are marked with more turns than run here: both numbers."""
    running = Counter(turn.ref() for turn in turns)
    return {ref: (count, running[ref]) for ref, count in marked.items() if count > running[ref]}
