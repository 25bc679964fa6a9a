"""Which guard watches over a conversation, whatever handles there are of it?"""

from __future__ import annotations

import os
from collections import OrderedDict
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from sexton.core.locks import shared_lock
from sexton.core.session import Relation, Session

if TYPE_CHECKING:
    from sexton.sessions.worker_context import Desk
    from sexton.spending.guard import Guard

KEPT = 1024
"""So many are remembered when no handle is left: the next message opens a new one."""


class Guards:
    """The guards of one worker, one for each conversation; thread-safe."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._lock = shared_lock()
        self._all: WeakValueDictionary[int, Guard] = WeakValueDictionary()
        self._recent: OrderedDict[int, Guard] = OrderedDict()

    def of(self, desk: Desk, session: Session) -> Guard:
        """The guard of the conversation the session belongs to."""
        from sexton.spending.guard import Guard  # noqa: PLC0415  # when the first turn begins

        if self._pid != os.getpid():  # a forked child: locks that its parent's threads held stay so
            self._begin()
        first = _first(desk, session)
        made = self._all.get(first) or Guard(desk)  # asks the ledger, so outside of the lock
        with self._lock:
            guard = self._all.setdefault(first, made)
            self._recent[first] = guard
            self._recent.move_to_end(first)
            if len(self._recent) > KEPT:
                self._recent.popitem(last=False)
        return guard

    def known(self, desk: Desk, session: Session) -> Guard | None:
        """The same, if there is one: whoever only writes makes none."""
        return self._all.get(_first(desk, session)) if self._recent else None


def _first(desk: Desk, session: Session) -> int:
    """The row of the session that a conversation began with, before any compression."""
    if session.relation is not Relation.COMPRESSION:
        return session.ref
    return desk.ledger.compression.chain(session.ref)[0].ref
