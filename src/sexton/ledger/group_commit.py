"""How do many threads share one commit?

A commit waits for the disk. One thread owns the write connection and commits whatever is
queued together; every caller returns only after the commit that holds its own job.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

T = TypeVar("T")
Tx = TypeVar("Tx")

BATCH = 512


class Ticket(Generic[Tx]):
    """A job on its way through a commit."""

    __slots__ = ("_done", "error", "job", "result")

    def __init__(self, job: Callable[[Tx], Any]) -> None:
        self.job = job
        self.result: Any = None
        self.error: BaseException | None = None
        self._done = threading.Lock()
        self._done.acquire()

    def finish(self) -> None:
        self._done.release()

    def wait(self) -> Any:
        """The job's result once it is durable, or its error."""
        self._done.acquire()
        if self.error is not None:
            raise self.error
        return self.result


class GroupCommit(Generic[Tx]):
    """A queue of jobs and the thread that commits them.

    `commit` runs a batch and fills in results and errors. `busy` is held while a batch runs, so
    that a fork can wait for a moment without one.
    """

    def __init__(self, commit: Callable[[list[Ticket[Tx]]], None], busy: threading.Lock) -> None:
        self._commit = commit
        self._busy = busy
        self._queue: SimpleQueue[Ticket[Tx] | None] = SimpleQueue()
        self._starting = threading.RLock()  # a signal handler may write while we are in here
        self._thread: threading.Thread | None = None
        self._stopped = False

    def run(self, job: Callable[[Tx], T]) -> T:
        """Run a job and return its result once it is durable."""
        ticket: Ticket[Tx] = Ticket(job)
        with self._starting:
            inline = self._stopped or not self._start()
            if not inline:
                self._queue.put(ticket)
        if inline:  # no thread, but still a durable commit
            with self._busy:
                self._carry_out([ticket])
        result: T = ticket.wait()
        return result

    def stop(self) -> None:
        """Commit what is queued and end the thread; later jobs run in their caller's thread."""
        with self._starting:
            thread, self._thread = self._thread, None
            self._stopped = True
            if thread is not None:
                self._queue.put(None)
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _start(self) -> bool:
        """Whether there is a thread, or one could be started: at exit and at limits it can not."""
        if self._thread is None:
            thread = threading.Thread(target=self._loop, name="sexton-writer", daemon=True)
            try:
                thread.start()
            except RuntimeError:
                return False
            self._thread = thread
        return True

    def _loop(self) -> None:
        while (first := self._queue.get()) is not None:
            with self._busy:
                batch, last = self._collect(first)
                self._carry_out(batch)
            if last:
                return

    def _collect(self, first: Ticket[Tx]) -> tuple[list[Ticket[Tx]], bool]:
        batch = [first]
        while len(batch) < BATCH:
            try:
                ticket = self._queue.get_nowait()
            except Empty:
                return batch, False
            if ticket is None:
                return batch, True
            batch.append(ticket)
        return batch, False

    def _carry_out(self, batch: list[Ticket[Tx]]) -> None:
        try:
            self._commit(batch)
        except BaseException as problem:  # noqa: BLE001  # raised again in every caller
            for ticket in batch:
                ticket.error = ticket.error or problem
        finally:
            for ticket in batch:
                ticket.finish()
