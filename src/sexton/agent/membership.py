"""How does a process show that it lives, and notice that it was taken for dead?

One thread raises one counter, whatever the number of sessions. A process that could not do so
for half the time after which others may bury it does not write before it has asked whether it
still counts; if it does, its agent notices nothing.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING
from weakref import ref

from sexton.errors import LedgerError, WorkerLeft
from sexton.model.worker import Worker
from sexton.policies.liveness import LivenessPolicy
from sexton.version import __version__

if TYPE_CHECKING:
    from sexton.ports import Clock, Ledger, ProcessTable


class Membership:
    """This process as a worker of the ledger; a forked child becomes a worker of its own."""

    def __init__(
        self,
        ledger: Ledger,
        clock: Clock,
        processes: ProcessTable,
        policy: Callable[[], LivenessPolicy],
        kind: str,
    ) -> None:
        self._ledger = ledger
        self._clock = clock
        self._processes = processes
        self._policy = policy
        self._kind = kind
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._pid = 0
        self._obeyed: LivenessPolicy | None = None
        self._allowed = 0.0
        self._hold_again: Callable[[], None] = lambda: None
        self._catch_up: Callable[[], None] = lambda: None
        self._enrol()

    @property
    def id(self) -> str:
        """The worker that this process is."""
        if self._pid != os.getpid():
            self._begin_anew()
        return self._id

    @property
    def is_mine(self) -> bool:
        """Whether this process registered it, rather than the one it was forked from."""
        return self._pid == os.getpid()

    def ensure(self) -> None:
        """Before a write: renew what has not been renewed for half the time, by either clock."""
        if self._pid != os.getpid():
            self._begin_anew()
            return
        policy, clock, (awake, ever) = self._policy(), self._clock, self._last
        if policy is not self._obeyed:
            self._obeyed, self._allowed = policy, policy.ttl.total_seconds() / 2
        if clock.monotonic() - awake > self._allowed or clock.elapsed() - ever > self._allowed:
            self.renew()

    def ensure_present(self) -> None:
        """Before a session is held: the same, and whoever has left holds nothing any more."""
        self.ensure()
        if self._stop.is_set():
            raise WorkerLeft("the worker has left and holds no sessions any more")

    def renew(self) -> bool:
        """Raise the counter; False if this worker was declared dead and goes on as a new one.

        Its sessions are then guarded by their epochs: what was taken over stays taken over.
        """
        if self._pid != os.getpid():
            self._begin_anew()
        id, moment = self._id, self._moment()  # read first: what follows may take long
        if self._ledger.reaping.beat(id):
            self._last = moment
            return True
        with self._lock:
            is_first = self._id == id and not self._stop.is_set()  # among the threads
            if is_first:
                self._enrol()
        if is_first:
            self._hold_again()
        return False

    def leave(self) -> None:
        """Stop the counter."""
        self._stop.set()

    def returns_by(self, hold_again: Callable[[], None]) -> None:
        """What to do when this worker was declared dead and goes on as a new one."""
        self._hold_again = hold_again

    def catches_up_by(self, catch_up: Callable[[], None]) -> None:
        """What to do with every heartbeat: tell the ledger what it did not hear."""
        self._catch_up = catch_up

    def catch_up(self) -> None:
        """Tell the ledger what it did not hear of this worker."""
        self._catch_up()

    def start(self) -> None:
        """Raise the counter from now on, in a thread that dies with the process."""
        threading.Thread(
            target=_beat_until_left, args=(ref(self), self._stop), name="sexton-beat", daemon=True
        ).start()

    def pace(self) -> float:
        """Seconds from one beat to the next."""
        return self._policy().beat_every.total_seconds()

    def _enrol(self) -> None:
        id, moment = os.urandom(16).hex(), self._moment()
        self._ledger.workers.register(
            Worker(
                id=id,
                identity=self._processes.myself(),
                kind=self._kind,
                version=__version__,
                beat=0,
                registered_at=self._clock.now(),
            )
        )
        self._id, self._last = id, moment
        self._pid = os.getpid()

    def _begin_anew(self) -> None:
        """A forked child: its parent's thread and locks are not here."""
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._enrol()
        self.start()

    def _moment(self) -> tuple[float, float]:
        return self._clock.monotonic(), self._clock.elapsed()


def _beat_until_left(reference: ref[Membership], stop: threading.Event) -> None:
    """Holds no reference while it waits, so that a forgotten worker can be collected."""
    while True:
        member = reference()
        if member is None:
            return
        pace = member.pace()
        del member
        if stop.wait(pace):
            return
        member = reference()
        if member is None or not member.is_mine:
            return
        try:
            member.renew()
            member.catch_up()
        except LedgerError:
            continue  # locked or unreachable for a while; `ensure` sees to what that means
