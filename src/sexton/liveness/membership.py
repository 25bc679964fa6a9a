"""How does a process show that it lives, and notice that it was taken for dead?

One thread per ledger raises one counter per worker, whatever the number of sessions. A process that
could not do so for half the time after which others may bury it does not write before it has asked
whether it still counts; if it does, its agent notices nothing.

A forked child becomes a worker of its own and holds the sessions whose handles it inherited: at its
first use of any of them, when its parent has died, or after `SETTLE` seconds, whichever comes
first. Until then its parent holds them. A child that executes another program or exits before that
leaves nothing behind.

The counter also shows that a ledger was set back to an earlier state, by a restore or a failover
that lost commits: the worker is unknown there, or its counter is lower than it was. What was lost
since the last beat is found by the watermarks of the sessions.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from sexton.core.troubles import say
from sexton.errors import LedgerError, WorkerLeft
from sexton.liveness.heartbeat import HEARTBEAT
from sexton.liveness.model import Worker
from sexton.liveness.policy import LivenessPolicy
from sexton.sessions.watermarks import Watermarks, compare_and_renew
from sexton.version import __version__

if TYPE_CHECKING:
    from sexton.core.machine_ports import Clock, ProcessTable
    from sexton.sessions.handle import Handle
    from sexton.store.ledger import Ledger

FORGOTTEN = timedelta(days=6)
"""A worker that was declared dead is forgotten by the ledger after a week."""
SETTLE = 2.0
"""Seconds after which a forked child that is still there is taken for one that stays."""
_LOOK_EVERY = 0.05
_SET_BACK = "the ledger was set back to an earlier state; open sessions are given up"


class Badge:
    """Who this process is to the ledger; it outlives its membership by a moment."""

    def __init__(self) -> None:
        self.id = ""
        self.pid = 0
        self.has_left = False
        self.give_up: Callable[[str], object] = lambda _: None
        self.last_words: Callable[[], object] = lambda: None

    def leave(self) -> None:
        """Give up every session, once, unless the badge is that of the process we forked from."""
        if not self.has_left and self.pid == os.getpid():
            self._say_last_words()
            self.has_left = True
            self.give_up(self.id)

    def depart(self) -> None:
        """The same for a worker that nobody refers to any more; what fails can be tried again."""
        if not self.has_left and self.pid == os.getpid():
            self._say_last_words()
            self.give_up(self.id)
            self.has_left = True

    def _say_last_words(self) -> None:
        """Before it leaves: afterwards the ledger takes no use of its turns any more."""
        with suppress(LedgerError):  # if the ledger is away, leaving says so
            self.last_words()


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
        self._badge = Badge()
        self.locks: dict[int, threading.RLock] = {}
        self._owes_holding = False
        self._looks = 0
        self.handles: WeakValueDictionary[int, Handle] = WeakValueDictionary()
        self.watermarks = Watermarks(ledger)
        self._obeyed: LivenessPolicy | None = None
        self._allowed = 0.0
        self._beat = 0
        self.timeline = 0
        """How often the ledger was found set back; what was opened before that is not trusted."""
        self._catch_up: Callable[[str], object] = lambda _: None
        self._enrol()

    @property
    def id(self) -> str:
        """The worker that this process is."""
        if self._badge.pid != os.getpid():
            self._begin_anew()
        return self._badge.id

    @property
    def is_mine(self) -> bool:
        """Whether this process registered it, rather than the one it was forked from."""
        return self._badge.pid == os.getpid()

    def ensure(self) -> None:
        """Before a write: renew what has not been renewed for half the time, by either clock."""
        if self._badge.pid != os.getpid():
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
        if self._badge.has_left:
            raise WorkerLeft("the worker has left and holds no sessions any more")

    def renew(self) -> bool:
        """Raise the counter; False if this worker does not go on as before.

        Either it was declared dead, and goes on as a new one: its sessions are then guarded by
        their epochs, and what was taken over stays taken over. Or the ledger was set back, and
        `timeline` rises; where the ledger knows the worker, it is still the same one.
        """
        if self._badge.pid != os.getpid():
            self._begin_anew()
        moment = self._moment()  # read first: what follows may take long
        (id, known), timeline = self._stored(), self.timeline
        beat = self._ledger.reaping.beat(id)
        if beat is not None and beat > known:
            with self.lock:
                if self._badge.id == id:
                    self._beat, self._last = beat, moment
            return True
        is_rewound = beat is not None or self._is_rewound(id, known)
        with self.lock:
            is_mine = self._badge.id == id and self.timeline == timeline
            is_first = is_mine and not self._badge.has_left  # among the threads
            if is_first and beat is None:
                self._enrol()
            elif is_first:
                self._beat, self._last = beat or 0, moment
            self.timeline += is_first and is_rewound
        if is_first and is_rewound:
            say("sexton.agent", _SET_BACK)
        elif is_first:
            self._hold(inherited=False)
        return False

    def notices_rewind(self) -> bool:
        """Ask whether the ledger has lost a heartbeat; if so, no handle is trusted any more."""
        if not self.is_mine or not self._is_rewound(*self._stored()):
            return False
        self.renew()
        return True

    def fall_back(self, timeline: int) -> None:
        """Trust no handle of that timeline any more: the ledger lacks what one of them has seen."""
        if self.notices_rewind():
            return
        with self.lock:
            is_first = self.timeline == timeline
            self.timeline += is_first
        if is_first:
            say("sexton.agent", _SET_BACK)

    def _stored(self) -> tuple[str, int]:
        """Which worker this is and how high its counter is at least."""
        with self.lock:
            return self._badge.id, self._beat

    def _is_rewound(self, id: str, known: int) -> bool:
        """Whether what this worker stored durably is not there any more.

        After a week of silence it may have been declared dead and then forgotten.
        """
        if self._clock.elapsed() - self._last[1] > FORGOTTEN.total_seconds():
            return False
        beat = self._ledger.workers.beat_of(id)
        return beat is None or beat < known

    @property
    def has_left(self) -> bool:
        return self._badge.has_left

    def leave(self) -> None:
        """Give up every session; a forked child that never used it leaves nothing."""
        if not self._badge.has_left and self.is_mine:
            self._badge.leave()
            HEARTBEAT.attend(self)

    def start(
        self,
        give_up: Callable[[str], object],
        catch_up: Callable[[str], object],
        last_words: Callable[[], object],
    ) -> None:
        """Raise the counter from now on, until it leaves or nobody refers to it any more.

        `give_up` makes the worker of that id leave the ledger. With every heartbeat `catch_up`
        tells the ledger what it did not hear of that worker, and `last_words` does so, before it
        leaves, for its turns. None of them may refer to this.
        """
        self._badge.give_up, self._badge.last_words = give_up, last_words
        self._catch_up = catch_up
        self._ledger.reaping.beat  # noqa: B018  # loaded now: the thread loads nothing
        HEARTBEAT.add(self, self.pace(), self._badge.depart)

    @property
    def ledger_key(self) -> str:
        return f"{self._ledger.url} {self._ledger.id}"

    def tend(self) -> float | None:
        """What the heartbeat does for this worker; seconds until it is to do it again."""
        if self._badge.has_left:
            return None
        if not self.is_mine:
            return self._tend_inherited()
        if self._owes_holding:
            self._hold(inherited=True)
        else:
            compare_and_renew(self)
            self._catch_up(self._badge.id)
        return self.pace()

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
        self._beat, self._last = 0, moment
        self._badge.id, self._badge.pid = id, os.getpid()

    @property
    def lock(self) -> threading.RLock:
        """The lock of this process: one that its parent's threads held is held for ever."""
        return self.locks.setdefault(os.getpid(), threading.RLock())

    def _begin_anew(self) -> None:
        """A forked child becomes a worker of its own, and holds what it inherited."""
        with self.lock:
            if self.is_mine:
                return
            self._enrol()
            self._badge.has_left, self._owes_holding = False, True
        HEARTBEAT.attend(self)
        self._hold(inherited=True)

    def _tend_inherited(self) -> float:
        """In a forked child: wait until it is known that it stays, or that it is on its own."""
        self._looks += 1
        is_alone = os.getppid() != self._badge.pid
        if not self.handles or not (is_alone or self._looks * _LOOK_EVERY > SETTLE):
            return _LOOK_EVERY if self._looks * _LOOK_EVERY <= SETTLE else SETTLE
        self._begin_anew()
        return self.pace()

    def _hold(self, *, inherited: bool) -> None:
        with self.lock:  # who is refused meanwhile waits for it
            for handle in [handle for ref in self.handles.valuerefs() if (handle := ref())]:
                handle.hold_on(inherited=inherited)
        self._owes_holding &= not inherited

    def _moment(self) -> tuple[float, float]:
        return self._clock.monotonic(), self._clock.elapsed()
