"""Which sessions does this Hermes process hold?"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial

from sexton.core.plan import Reason
from sexton.core.session import Session, State
from sexton.errors import HomeNotFound
from sexton.integrations.hermes_plugin import plugin_rows as rows
from sexton.integrations.hermes_plugin.uncounted import Uncounted
from sexton.sessions.visiting import GuestSession, Visitor
from sexton.spending.model import Unit

ANEW = {
    "cli": "Begin another one with /new, or go on with this one by 'hermes --resume ID'.",
    "api_server": "The next message begins another one, unless it names this session.",
}
"""How somebody goes on whose session has ended, by its source; a chat does so by itself."""


class Guests:
    """The sessions of this process, each held from its first turn on; thread-safe."""

    def __init__(self, come: Callable[..., Visitor], now: Callable[[], datetime]) -> None:
        self._come = come
        self._now = now
        self._lock = threading.RLock()
        self._visitor: Visitor | None = None
        self._has_parted = False
        self._held: dict[str, GuestSession] = {}
        self.uncounted = Uncounted()

    def hold(self, id: str) -> GuestSession:
        """Hold a session that Hermes has written; HomeNotFound while it has not.

        One that has ended is held by nobody, and what Hermes spends in it counts all the same;
        SessionEnded if it was ended from here for good.
        """
        row = rows.find(id)
        if row is None:
            raise HomeNotFound(f"Hermes has not written the session {id} yet")
        told = rows.told(row, self._now())
        with self._lock:
            visitor = self._present()
            known = visitor.known(id)
            is_held = known is not None and known.is_open and told.end_reason in rows.GOES_ON
            if not (told.is_open or is_held):
                self._held.pop(id, None)
                guest = visitor.go_on_with(told)
                guest.end_in_home = self._end
                return guest
            guest = self._held[id] = visitor.hold(told)
            guest.end_in_home = self._end
        self._leave_behind(id, guest.key)
        return guest

    def get(self, id: str) -> GuestSession | None:
        """A session that is held."""
        return self._held.get(id)

    def whose(self, key: str) -> GuestSession | None:
        """The session that is held under that id, or is the conversation of that key."""
        found = (each for id, each in list(self._held.items()) if key and key in (id, each.key))
        return next(found, None)

    def settle(self, id: str, reason: str | None = None) -> None:
        """End its row where nobody did, unless others hold it, and tell the ledger how it stands.

        What an ended session owes is owed from then on.
        """
        guest, row = self._held.get(id), rows.find(id)
        if row is not None and row.get("ended_at") is None:
            wanted = reason or rows.CLOSING.get(str(row.get("source")))
            if wanted and not (guest and guest.others()):
                rows.end(id, wanted)
                row = rows.find(id)
        self.tell(id, row)

    def tell(self, id: str, row: rows.Row | None = None) -> None:
        """Tell the ledger how a session stands."""
        row = row or rows.find(id)
        if row is not None and id in self._held:
            told = rows.told(row, self._now())
            self._present().tell(told)
            if told.state is not State.OPEN:
                self._held.pop(id, None)

    def catch_up(self) -> None:
        """Let the ledger know of what was spent in sessions of which no turn comes any more."""
        for id in self.uncounted.closed():
            self.uncounted.settle(id, partial(self._count, id))

    def _count(self, id: str, model: str, amounts: Mapping[Unit, int]) -> bool:
        row = rows.find(id)
        told = None if row is None else rows.told(row, self._now())
        return told is not None and self.come().count_late(told, amounts, model)

    def all(self) -> list[tuple[str, GuestSession]]:
        """Every session that is held, those of subagents first."""
        held = list(self._held.items())
        return sorted(held, key=lambda each: each[1].source != "subagent")

    def leave(self) -> None:
        """Be no worker any more."""
        if self._visitor is not None:
            self._visitor.leave()

    def part(self) -> None:
        """Come anew to the ledger that is there by now, if the one that was used is gone."""
        with self._lock:
            visitor = self._visitor
            if visitor is None or not visitor.is_lost():
                return
            self._visitor, self._has_parted = None, True
            self._held.clear()
        visitor.let_go()

    def come(self) -> Visitor:
        """The worker that this process is, from now on if it was none."""
        with self._lock:
            return self._present()

    @property
    def visitor(self) -> Visitor | None:
        """The worker that this process is, once it is one."""
        return self._visitor

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._held))

    def _end(self, session: Session, reason: Reason) -> datetime | None:
        """End a session in Hermes; the ledger ends it then, with all that was said in it."""
        ended_at, row = rows.end_for(session, reason), rows.find(session.id)
        if ended_at is not None and row is not None:
            self._present().count(rows.told(row, self._now()))
        return ended_at

    def _leave_behind(self, id: str, key: str | None) -> None:
        """Let go of what the conversation was in before: no hook tells of an end from outside."""
        for other, guest in list(self._held.items()):
            if key and guest.key == key and other != id:
                self.tell(other)

    def _present(self) -> Visitor:
        if self._visitor is None:
            # Whoever replaces a ledger may not have put the other one there yet.
            self._visitor = self._come(create=False) if self._has_parted else self._come()
        return self._visitor
