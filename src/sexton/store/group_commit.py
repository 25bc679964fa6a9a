"""How do many threads share one commit?

A commit waits for the disk. A caller that finds nobody else writing commits by itself; whoever
comes meanwhile boards a batch, and one thread commits each batch together. Every caller returns
only after the commit that holds its own job.

Threads that have just been in a batch are likely to be back in a moment. The next batch waits for
them: a commit in their midst would have to win the interpreter back from them at every step.

A signal handler may write while its own thread is in here, as long as that is not in a commit (see
`is_mine`). So nothing below waits for a lock that a frame of the same thread may hold: what two
threads share is changed by single steps.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from sexton.core.troubles import Troubles

T = TypeVar("T")
Tx = TypeVar("Tx")

LINGER = 0.0005  # seconds; a wait in which fewer than so many move on is in vain
RUSH = 4
IN_VAIN = 2  # after so many such waits nobody is waited for any more, ...
IN_VAIN_ASLEEP = 10  # ... or after so many, where somebody was not even let run yet


Job = Callable[[Tx], Any]


class Ticket(Generic[Tx]):
    """A job on its way through a commit that is shared."""

    __slots__ = ("done", "error", "job", "lasting", "result")

    def __init__(self, job: Job[Tx], lasting: bool = True) -> None:
        self.job = job
        self.lasting = lasting
        self.done = False
        self.result: Any = None
        self.error: BaseException | None = None


class Batch(Generic[Tx]):
    """Jobs that are committed together, and the gate that opens when that is done."""

    __slots__ = ("awake", "gate", "tickets")

    def __init__(self) -> None:
        self.tickets: list[Ticket[Tx]] = []
        self.gate = _shut()
        self.awake = 0  # how many have passed the gate; changed by whoever is in it


class GroupCommit(Generic[Tx]):
    """The batch that is boarding, the thread that commits it, and how many it waits for.

    `commit` runs a job in a transaction and returns its result; `busy` is held meanwhile, so that
    a fork can wait for a moment without one. After an error of a kind that is `common` to all,
    the jobs of a batch are not tried one by one.
    """

    def __init__(
        self,
        commit: Callable[[Job[Tx], bool], Any],
        busy: threading.RLock,
        common: tuple[type[BaseException], ...] = (),
    ) -> None:
        self._commit = commit
        self._busy = busy
        self._common = common
        self._boarding: Batch[Tx] = Batch()
        self._running = False
        self._expected = 1
        self._wanted = _shut()
        self._starting = threading.RLock()
        self._thread: threading.Thread | None = None
        self._stopped = False
        self._troubles = Troubles("sexton.ledger")

    def run(self, job: Callable[[Tx], T], *, lasting: bool = True) -> T:
        """Run a job and return its result once it is committed, and durable if it is to last."""
        # Handing a lone job to the thread and back would cost more than the job.
        if not (self._boarding.tickets or self._running or self._expected > 1):
            return self._by_itself(job, lasting)
        ticket: Ticket[Tx] = Ticket(job, lasting)
        while not ticket.done:
            batch = self._board(ticket)
            if batch is None:
                return self._by_itself(job, lasting)
            with batch.gate:  # whoever passes lets the next through: one wake-up at a time
                batch.awake += 1
        if ticket.error is not None:
            raise ticket.error
        result: T = ticket.result
        return result

    def stop(self) -> None:
        """Commit what is queued and end the thread; later jobs run in their caller's thread."""
        with self._starting:
            thread, self._thread = self._thread, None
            self._stopped = True
        if thread is None or thread is threading.current_thread():
            return
        self._wake()
        # Where a signal handler interrupted a commit of its own thread, it ends after that.
        while thread.is_alive() and not self.is_mine:
            thread.join(LINGER)
            self._wake()

    @property
    def is_mine(self) -> bool:
        """Whether a frame of this thread is in a commit, which a signal handler interrupts."""
        found: bool = self._busy._is_owned()  # type: ignore[attr-defined]  # as conditions ask
        return found

    def _by_itself(self, job: Callable[[Tx], T], lasting: bool) -> T:
        with self._busy:
            self._running = True
            try:
                result: T = self._commit(job, lasting)
                return result
            finally:
                self._running = False

    def _board(self, ticket: Ticket[Tx]) -> Batch[Tx] | None:
        """The batch the job is on, or None if there is no thread to commit one.

        If the batch left at this very moment, its gate opens with the job undone, and the caller
        boards the next.
        """
        with self._starting:
            if self._stopped or not self._start():
                return None
            batch = self._boarding
            batch.tickets.append(ticket)
        if len(batch.tickets) >= self._expected:
            self._wake()
        return batch

    def _wake(self) -> None:
        try:
            self._wanted.release()
        except RuntimeError:  # the thread is awake already, and has not taken the batch yet
            return

    def _start(self) -> bool:
        """Whether there is a thread, or one could be started: at exit and at limits it can not."""
        if self._thread is None or not self._thread.is_alive():
            thread = threading.Thread(target=self._loop, name="sexton-writer", daemon=True)
            self._thread = thread  # before it runs: an interrupt while it starts must not lose it
            try:
                thread.start()
            except RuntimeError:
                self._thread = None
                return False
        return True

    def _loop(self) -> None:
        last = False
        batch: Batch[Tx] = Batch()
        while not last:
            try:
                self._gather(batch)
                is_last = self._stopped
                batch = self._depart()
                last = is_last
            except Exception as trouble:  # noqa: BLE001  # callers wait: no memory for a list, say
                self._troubles("writer", "a commit of several jobs failed", trouble)
                time.sleep(LINGER)

    def _depart(self) -> Batch[Tx]:
        """Commit the batch that is boarding; its gate opens whatever happens.

        A job of which nothing was done then boards the next one.
        """
        batch: Batch[Tx] | None = None
        try:
            with self._busy:
                batch, self._boarding = self._boarding, Batch()
                if tickets := batch.tickets[:]:
                    self._carry_out(tickets)
                self._expected = max(1, len(tickets) + len(self._boarding.tickets))
            return batch
        finally:
            if batch is not None:
                batch.gate.release()

    def _gather(self, left: Batch[Tx]) -> None:
        """Wait until all are aboard who wrote a moment ago, as long as they come in a rush.

        On a busy machine those of the batch that left may not have been let run yet.
        """
        moved = in_vain = 0
        # A job that boards just before fewer are expected wakes nobody: look again, then wait.
        while len(self._boarding.tickets) < self._expected and not self._stopped:
            if self._wanted.acquire(timeout=LINGER if self._expected > 1 else -1):
                continue
            before, moved = moved, left.awake + len(self._boarding.tickets)
            in_vain = 0 if moved - before >= RUSH else in_vain + 1
            asleep = left.awake < len(left.tickets)
            if in_vain >= (IN_VAIN_ASLEEP if asleep else IN_VAIN):
                self._expected = 1

    def _carry_out(self, tickets: list[Ticket[Tx]]) -> None:
        """Run the jobs in one transaction; if one fails, each runs in one of its own."""

        def together(tx: Tx) -> None:
            for ticket in tickets:
                ticket.result = ticket.job(tx)

        self._running = True
        try:
            self._commit(together, any([ticket.lasting for ticket in tickets]))
        except BaseException as problem:  # noqa: BLE001  # raised again in every caller
            if len(tickets) == 1 or isinstance(problem, self._common):
                for ticket in tickets:
                    ticket.error = problem
            else:
                self._one_by_one(tickets)
        finally:
            self._running = False
            for ticket in tickets:
                ticket.done = True

    def _one_by_one(self, tickets: list[Ticket[Tx]]) -> None:
        for ticket in tickets:
            try:
                ticket.result = self._commit(ticket.job, ticket.lasting)
            except BaseException as problem:  # noqa: BLE001  # raised again in the job's caller
                ticket.error = problem


def _shut() -> threading.Lock:
    lock = threading.Lock()
    lock.acquire()
    return lock
