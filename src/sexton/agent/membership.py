"""How does a process show that it lives, and notice that it was taken for dead?

One thread raises one counter, whatever the number of sessions. A process that could not do so
for half the time after which others may bury it does not write before it has asked whether it
still counts; if it does, its agent notices nothing.

The counter also shows that a ledger was set back to an earlier state, by a restore or a failover
that lost commits: the worker is unknown there, or its counter is lower than it was.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING
from weakref import ref

from sexton.errors import LedgerError, WorkerLeft
from sexton.model.worker import Worker
from sexton.policies.liveness import LivenessPolicy
from sexton.version import __version__

if TYPE_CHECKING:
    from sexton.ports import Clock, Ledger, ProcessTable

FORGOTTEN = timedelta(days=6)
"""A worker that was declared dead is forgotten by the ledger after a week."""


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
        self.timeline = 0
        """How often the ledger was found set back; what was opened before that is not trusted."""
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
        """Raise the counter; False if this worker goes on as a new one.

        Either it was declared dead: its sessions are then guarded by their epochs, and what was
        taken over stays taken over. Or the ledger was set back, and `timeline` rises.
        """
        if self._pid != os.getpid():
            self._begin_anew()
        moment = self._moment()  # read first: what follows may take long
        id, known = self._stored()
        beat = self._ledger.reaping.beat(id)
        if beat is not None and beat > known:
            with self._lock:
                if self._id == id:
                    self._beat, self._last = beat, moment
            return True
        is_rewound = beat is not None or self._is_rewound(id, known)
        with self._lock:
            is_first = self._id == id and not self._stop.is_set()  # among the threads
            if is_first:
                self.timeline += is_rewound
                self._enrol()
        if is_first and is_rewound:
            _warn()
        elif is_first:
            self._hold_again()
        return False

    def notices_rewind(self) -> bool:
        """Ask whether the ledger was set back; if so, this worker goes on as a new one."""
        if self._pid != os.getpid() or not self._is_rewound(*self._stored()):
            return False
        self.renew()
        return True

    def _stored(self) -> tuple[str, int]:
        """Which worker this is and how high its counter is at least."""
        with self._lock:
            return self._id, self._beat

    def _is_rewound(self, id: str, known: int) -> bool:
        """Whether what this worker stored durably is not there any more.

        After a week of silence it may have been declared dead and then forgotten.
        """
        if self._clock.elapsed() - self._last[1] > FORGOTTEN.total_seconds():
            return False
        beat = self._ledger.workers.beat_of(id)
        return beat is None or beat < known

    def leave(self) -> None:
        """Stop the counter."""
        self._stop.set()

    def returns_by(self, hold_again: Callable[[], None]) -> None:
        """What to do when this worker was declared dead and goes on as a new one."""
        self._hold_again = hold_again

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
        self._id, self._beat, self._last = id, 0, moment
        self._pid = os.getpid()

    def _begin_anew(self) -> None:
        """A forked child: its parent's thread and locks are not here."""
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._enrol()
        self.start()

    def _moment(self) -> tuple[float, float]:
        return self._clock.monotonic(), self._clock.elapsed()


def _warn() -> None:
    import logging  # noqa: PLC0415  # slow to load, and hardly ever needed

    logging.getLogger("sexton.agent").warning(
        "the ledger was set back to an earlier state; open sessions are given up"
    )


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
        except LedgerError:
            continue  # locked or unreachable for a while; `ensure` sees to what that means
