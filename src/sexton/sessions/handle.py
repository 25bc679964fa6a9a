"""Which session does an agent hold, and where does its conversation go on?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from sexton.core.endings import is_reap
from sexton.core.record import replace
from sexton.core.schedule import Schedule
from sexton.core.session import Limit, Session
from sexton.errors import SessionError, SessionRewound
from sexton.sessions.keys import revive
from sexton.sessions.watermarks import look_back
from sexton.sessions.worker_context import Desk

if TYPE_CHECKING:
    from sexton.core.message import Message
    from sexton.rules.rulebook import InForce
    from sexton.sessions.model import Appended
    from sexton.sessions.watermarks import Watermark


T = TypeVar("T")

PAGE_BYTES = 4_000_000


class Handle:
    """A session by its name and its fence; it follows a conversation that is compressed."""

    def __init__(self, desk: Desk, session: Session) -> None:
        self._desk = desk
        self._timeline = desk.membership.timeline
        self._go_on(session)
        self._obey(desk.rules(None))
        self._planned: tuple[tuple[int, Limit] | None, Schedule] = (None, Schedule(0))

    def __repr__(self) -> str:
        return f"<session {self.id} of key {self.key!r}, epoch {self.epoch}>"

    @property
    def id(self) -> str:
        return self._held.id

    @property
    def key(self) -> str | None:
        return self._held.key

    @property
    def source(self) -> str:
        return self._held.source

    @property
    def epoch(self) -> int:
        """The fence; it rises when somebody takes the session over."""
        return self._held.epoch

    @property
    def _held(self) -> Session:
        return self._place[0]

    @property
    def _session(self) -> Session:
        """The session that is held; SessionRewound if the ledger was set back since."""
        return self._trusted()[0]

    def _trusted(self) -> tuple[Session, Watermark]:
        """The session that is held and what was seen of it; SessionRewound as above."""
        if self._timeline != self._desk.membership.timeline:
            raise self._desk.rewound(self._held)
        return self._place

    def hold_on(self, *, inherited: bool) -> None:
        """Make this process a holder of the session, unless somebody took it over meanwhile.

        A worker that was declared dead joins what others hold still; to take what nobody holds
        would raise the epoch. A forked child inherited the handle, so it takes that too, and
        opens again what was reaped because its parent had died.
        """
        desk, session = self._desk, self._session
        for found in desk.ledger.index.find(session.home, session.id):
            if found.epoch != session.epoch:
                continue
            if found.is_open and (found.holders or inherited):
                joined = desk.ledger.book.join(found, desk.worker, (), desk.clock.now())
                self._go_on(joined or session)
            elif inherited and is_reap(found.end_reason, found.home):
                with suppress(SessionError):  # its conversation goes on elsewhere
                    self._go_on(revive(desk, session))

    def _reach(self, attempt: Callable[[Session], T | None]) -> T:
        """Do what needs the fence; where the conversation was compressed, in its newest session."""
        while True:
            session = self._session
            done = attempt(session)
            if done is not None:
                return done
            self._press_on(session)

    def _press_on(self, session: Session) -> None:
        """Go on where the conversation does; if nowhere, say why nothing may be done."""
        with self._desk.membership.lock:
            pass  # another thread may have raised the epoch, and not have said so here yet
        if self._held.id == session.id and self._held.epoch > session.epoch:
            return  # meanwhile the heartbeat of a forked child took what it inherited
        if not self._follow(session):
            raise self._desk.refusal(session, self._place[1])

    def _follow(self, session: Session) -> bool:
        """Go on where the conversation does; False if that is this session still."""
        tip = following(self._desk, session)
        if tip is not None:
            if look_back(self._desk.membership, self._place[1]):  # compressed without what was lost
                raise self._desk.rewound(session)
            self._go_on(tip)
        return tip is not None

    def _catch_up(self) -> None:
        """Before what asks for no fence: another holder may have compressed the session."""
        self._follow(self._session)

    def _go_on(self, session: Session) -> None:
        # One step for both: a thread must never hold one session to what was seen of another.
        self._place = session, self._desk.membership.watermarks.of(session, self._timeline)
        self._warned = session.warned

    def _read(self, ref: int, after: int) -> Iterator[Message]:
        while page := self._page(ref, after):
            yield from page
            after = page[-1].seq

    def _page(self, ref: int, after: int) -> Sequence[Message]:
        _, held = self._place
        mark = held if ref == held.ref else None
        seen = mark.count if mark else 0
        try:
            found = self._desk.ledger.messages.page(ref, after, PAGE_BYTES, seen)
        except SessionRewound:
            self._desk.membership.fall_back(self._timeline)
            raise self._desk.rewound(self._held) from None
        if mark is not None and found:
            mark.count = max(mark.count, found[-1].seq)
        return found

    def _schedule(self, now: datetime) -> Schedule:
        """When to look again after a write now; without a clock in the policy it stays the same."""
        known, planned = self._planned
        if known == (self._rules.serial, self._warned):
            return planned
        session = replace(self._session, active_at=now, warned=self._warned)
        rules = self._rules.rules
        planned = rules.schedule(session, self._rules.serial)
        if not rules.has_clock(session):
            self._planned = (self._rules.serial, self._warned), planned
        return planned

    def _learn(self, session: Session, appended: Appended) -> None:
        """Take over what the ledger said: newer rules, warnings already given, what is stored."""
        held, mark = self._place
        if held.id == session.id:  # else another thread went on from there meanwhile
            mark.count = max(mark.count, appended.last_seq)
        self._warned = appended.warned
        if appended.serial != self._rules.serial:
            self._obey(self._desk.rules(appended.serial))

    def _obey(self, rules: InForce) -> None:
        self._rules = rules
        self._counts_messages = rules.rules.spend.counts_messages  # asked before every write


def following(desk: Desk, session: Session) -> Session | None:
    """Where the conversation goes on if the session was compressed, under the same epoch.

    Whoever had lost the session before it was compressed has lost its child, too.
    """
    tip = desk.ledger.compression.tip(session.ref)
    # A child is younger: whoever follows comes to an end, whatever is read.
    return None if tip is None or tip.ref <= session.ref else replace(tip, epoch=session.epoch)
