"""The thread of a process that keeps all of its workers in one ledger alive.

It holds no worker while it waits, so that a forgotten one is collected; it then leaves the ledger
on that worker's behalf, as a destructor may run in the middle of anything and must not. It
survives every exception: a process whose thread died would be taken for dead with all of its
sessions. It imports nothing.

Each ledger has a thread of its own, as one that does not answer holds its thread up for half a
minute. The thread ends with the last worker of its ledger. In a forked child the threads begin anew
and adopt the workers that the child inherited.
"""

from __future__ import annotations

import atexit
import math
import os
import threading
import time
from _queue import Empty, SimpleQueue  # the module `queue` loads much else
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary, finalize

from sexton.core.locks import shared_lock
from sexton.core.troubles import Troubles
from sexton.errors import LedgerClosed, SextonError

if TYPE_CHECKING:
    from collections.abc import Callable

    from sexton.liveness.membership import Membership

RETRY = 5.0
"""Seconds after which a failed step is tried again."""
TRIES = 12
"""How often the thread tries to leave for a worker that nobody refers to any more."""


class Heartbeat:
    """The members of one ledger, and the thread that tends them while there are any."""

    def __init__(self) -> None:
        self._members: WeakValueDictionary[int, Membership] = WeakValueDictionary()
        self._due: dict[int, float] = {}  # of every member that has not left, collected or not
        self._names = count()
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._lock = shared_lock()
        self._news: SimpleQueue[_Departure | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._troubles = Troubles("sexton.agent")
        self._late: list[tuple[float, _Departure]] = []
        self._is_silent = False

    def add(self, member: Membership, pause: float, depart: Callable[[], object]) -> None:
        """Tend a member after a pause, and again whenever it says; then call `depart`."""
        name = next(self._names)
        self._members[name] = member
        self._due[name] = time.monotonic() + pause
        # A destructor runs in the middle of anything, so all it does is to put this on the queue.
        finalize(member, self._put, _Departure(name, depart)).atexit = False
        self.attend()

    def attend(self) -> None:
        """Have the thread look at its members now, and start it if there is none."""
        if self._pid != os.getpid():  # forked past our hooks, by C code
            self._begin()
        self._start()
        self._news.put(None)

    def members(self) -> list[Membership]:
        """All members that somebody still refers to."""
        return [member for ref in self._members.valuerefs() if (member := ref()) is not None]

    def in_child(self) -> None:
        """Begin anew after a fork: the parent's thread and locks are not here."""
        self._begin()
        if self._members:
            self._due = dict.fromkeys(self._members.keys(), 0.0)
            with suppress(RuntimeError):  # no thread is to be had: the first use sees to it
                self._start()

    def _put(self, departure: _Departure) -> None:
        self._news.put(departure)

    def _start(self) -> None:
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                thread = threading.Thread(
                    target=self._run, args=(self._news,), name="sexton-beat", daemon=True
                )
                self._thread = thread
                thread.start()

    def _run(self, news: SimpleQueue[_Departure | None]) -> None:
        while True:
            try:
                pause = self._round()
                with self._lock:
                    if not self._due and news.empty():
                        self._thread = None
                        return
                with suppress(Empty):
                    departure = news.get(timeout=pause)
                    if departure is not None:
                        self._depart(departure)
            except Exception as trouble:  # noqa: BLE001  # no memory for a list, for one
                self._complain(trouble)
                time.sleep(RETRY)

    def _round(self) -> float:
        """Tend all members whose time has come; seconds until the next one's comes."""
        self._is_silent = False  # a ledger that does not answer is asked once in a round
        for name, due in list(self._due.items()):
            member = self._members.get(name)
            if member is None or due > time.monotonic():
                continue  # its departure is on the queue, or it is not due
            pause = RETRY if self._is_silent else self._tend(member)
            if pause is None:
                del self._due[name]
            else:
                self._due[name] = time.monotonic() + pause
        late, self._late = self._late, []
        for when, departure in late:
            if when > time.monotonic():
                self._late.append((when, departure))
            else:
                self._depart(departure)
        live = [due for name, due in list(self._due.items()) if name in self._members]
        next_due = min([*live, *(when for when, _ in self._late)], default=math.inf)
        return min(max(next_due - time.monotonic(), 0.0), _LONGEST)

    def _tend(self, member: Membership) -> float | None:
        """Tend one member; seconds until its next step."""
        try:
            return member.tend()
        except LedgerClosed:
            return None  # by its owner, for good: there is nothing left to keep alive
        except Exception as trouble:  # noqa: BLE001  # whatever it meets, the process is alive
            self._is_silent = True
            self._complain(trouble)
            return RETRY

    def _depart(self, departure: _Departure) -> None:
        """Leave for a member that is gone; what fails is tried again a few times."""
        try:
            if departure.name in self._due:  # else it had left before
                departure.leave()
        except LedgerClosed:
            pass  # by its owner, for good: the keeper finds out when this process ends
        except Exception as trouble:  # noqa: BLE001  # the keeper finds out when this process ends
            self._complain(trouble)
            departure.tries += 1
            if departure.tries < TRIES:
                self._late.append((time.monotonic() + RETRY, departure))
                return
        self._due.pop(departure.name, None)

    def _complain(self, trouble: Exception) -> None:
        """Say so, now and then; also when there is no memory or descriptor left to say it with."""
        self._troubles("heartbeat", "the heartbeat failed and goes on", trouble)


_LONGEST = 60.0


class _Departure:
    """How to leave for a member that was collected, and how often that was tried."""

    def __init__(self, name: int, leave: Callable[[], object]) -> None:
        self.name = name
        self.leave = leave
        self.tries = 0


class Heartbeats:
    """The heartbeat of each ledger that this process has workers in."""

    def __init__(self) -> None:
        self._is_hooked = False
        # Kept by its thread while that runs, and by the destructor of each member.
        self._all: WeakValueDictionary[str, Heartbeat] = WeakValueDictionary()
        self._lock = shared_lock()

    def add(self, member: Membership, pause: float, depart: Callable[[], object]) -> None:
        """Tend a member after a pause, and again whenever it says.

        When nobody refers to it any more, the thread calls `depart`, which must not refer to it.
        """
        if not self._is_hooked and hasattr(os, "register_at_fork"):
            # Now, as hooks run in order: the ledger's come first, so that the thread of a child
            # never sees a connection of its parent.
            self._is_hooked = True
            os.register_at_fork(after_in_child=self.in_child)
        self._of(member).add(member, pause, depart)

    def attend(self, member: Membership) -> None:
        """Have the thread of its ledger look at its members now."""
        self._of(member).attend()

    def members(self) -> list[Membership]:
        """All members that somebody still refers to."""
        return [member for heartbeat in self._known() for member in heartbeat.members()]

    def in_child(self) -> None:
        """Begin anew after a fork: the parent's threads are not here."""
        for heartbeat in self._known():
            heartbeat.in_child()

    def _of(self, member: Membership) -> Heartbeat:
        with self._lock:
            return self._all.setdefault(member.ledger_key, Heartbeat())

    def _known(self) -> list[Heartbeat]:
        return [found for ref in self._all.valuerefs() if (found := ref()) is not None]


HEARTBEAT = Heartbeats()


@atexit.register
def _leave_at_exit() -> None:
    """A process that ends cleanly without leaving its workers has left them all the same."""
    for member in HEARTBEAT.members():
        try:
            member.leave()
        except SextonError as trouble:
            import logging  # noqa: PLC0415  # slow to load, rarely needed

            logging.getLogger("sexton.agent").warning(
                "a worker could not leave its sessions: %s", trouble
            )
