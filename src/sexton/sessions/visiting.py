"""How does an agent hold sessions that another program's home keeps?

The home keeps the rows and the messages; the ledger knows who works on them, what that spends and
which processes it has started. Nothing here touches the home.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Unpack

from sexton.core.endings import EndKind, end_kind
from sexton.core.record import replace
from sexton.core.schedule import Schedule
from sexton.core.session import Relation, Session
from sexton.errors import HomeRewound, LedgerError, LedgerGone, SessionNotFound
from sexton.homes.home_ports import HomeRecord, Sighting
from sexton.liveness.policy import dead_holders
from sexton.sessions.agent_worker import AgentWorker
from sexton.sessions.handle import Handle
from sexton.sessions.keys import known_worker
from sexton.sessions.model import Appended, Place
from sexton.sessions.turn import Turn
from sexton.sessions.worker_context import Desk
from sexton.spending.model import Unit

if TYPE_CHECKING:
    from sexton.processes.agent_processes import Facts
    from sexton.processes.model import Process, Watched
    from sexton.sessions.forced_end import EndInHome
    from sexton.spending.policy import SpendRules
    from sexton.spending.tool_watch import Stop

ATTEMPTS = 5
RECENT = 50
WORKS_FOR = (Relation.SUBAGENT, Relation.COMPRESSION)
"""Whatever came from its parent so does what it does for it, or in its place."""
BY_POLICY = (EndKind.IDLE_RESET, EndKind.DAILY_RESET, EndKind.SIZE_RESET)


class GuestTurn(Turn):
    """A turn in a session whose home counts the turns itself.

    One that begins in a session that has ended is in nobody's list and needs no fence: it counts.
    """

    def heard(self, messages: int, total: int) -> None:
        """The home has stored messages of the turn, so that its session has so many: count them."""
        self._running().heard(messages)
        if Unit.MESSAGES in self._guard.counted:
            self._moved()
            self._desk.ledger.homes.grown(self._session.ref, total)

    def beside(self, used: Mapping[Unit, int], model: str | None) -> None:
        """Count tokens that the session has used without a reservation."""
        self._running().beside(used, model)

    def stop(self) -> Stop | None:
        """Why tools are stopped now and until when, or None; the ledger is not asked."""
        return self._guard.watch(self._running().watch).stopped()

    def remember(self, failure: str) -> None:
        """Keep how the last tool failed for later turns of this process; empty if it worked."""
        self._guard.watch(self._running().watch).remember(failure)

    def unpriced(self) -> frozenset[str]:
        """The models whose price nobody knows, so that their money is not bounded."""
        return frozenset(self._guard.unpriced)

    def rules(self) -> SpendRules:
        """What bounds it, as it was last known; the ledger is not asked."""
        return self._guard.rules

    def _is_fenced(self) -> bool:
        return self._session.is_open

    def _start(self, now: datetime) -> Appended | None:
        desk = self._desk
        if self._is_fenced() and not desk.ledger.reaping.occupy(self._session, desk.worker, now):
            return None
        return Appended(0, self._session.warned, desk.rules(None).serial)


class GuestSession(Handle):
    """A session of a foreign home, held by this process."""

    end_in_home: EndInHome | None = None

    def __init__(self, desk: Desk, session: Session) -> None:
        super().__init__(desk, session)
        self._messages = session.message_count

    def turn(self) -> GuestTurn:
        """A turn of it, under the budgets and the breaker of the ledger."""
        guard = self._desk.guards.of(self._desk, self._session)
        guard.learn(self._desk.rules(None))
        guard.end_in_home = self.end_in_home
        return GuestTurn(self._desk, self._session, _unplanned, self._learn, guard)

    def register_process(self, pid: int, **facts: Unpack[Facts]) -> Process:
        """Make a running process this session's, as `OpenSession.register_process` does."""
        from sexton.processes.agent_processes import adopt  # noqa: PLC0415  # few agents have any

        return adopt(self._desk, self._reach, pid, facts)

    def processes(self) -> Sequence[Watched]:
        """Its processes and what they do."""
        return self._desk.overseer().of_native(self._session)

    def grown(self, messages: int) -> int:
        """The home stores so many messages more; how many there are then."""
        self._messages += messages
        return self._messages

    def others(self) -> list[str]:
        """The workers that hold it too."""
        found = self._desk.ledger.index.find(self._session.home, self.id)
        holders = found[0].holders if found else ()
        dead = dead_holders(found[0], self._desk.evidence(found[0])) if found else ()
        ids = [each.worker.id for each in holders]
        return [id for id in ids if id != self._desk.worker and id not in dead]


class Visitor(AgentWorker):
    """A process of the program whose home it is. Leaving ends nothing: that is the home's to do."""

    _ends_sessions = False

    def __init__(self, desk: Desk, home: HomeRecord) -> None:
        super().__init__(desk)
        self.home = home

    def is_lost(self) -> bool:
        """Whether another file or none is where its ledger was."""
        try:
            self.known("")
        except LedgerGone:
            return True
        return False

    def let_go(self) -> None:
        """Use the ledger no more, wherever it is."""
        with suppress(LedgerError):
            self.leave()
        with suppress(LedgerError):
            self._desk.ledger.close()

    def hold(self, told: Session) -> GuestSession:
        """Hold a session of the home; what the ledger has observed of it stands, if it is open."""
        self._check_open()
        for _ in range(ATTEMPTS):
            known = self._known(told)
            if known is None or not known.is_open:
                self.tell(told)
                known = self._known(told)
            with known_worker(self._desk):
                joined = None if known is None else self._join(known)
                if joined is not None:
                    held = GuestSession(self._desk, joined)
                    held.grown(max(0, told.message_count - joined.message_count))
                    self._desk.ledger.homes.grown(joined.ref, told.message_count)
                    return held
        raise SessionNotFound(f"the session {told.id} of {self.home.name} can not be held")

    def go_on_with(self, told: Session) -> GuestSession:
        """A session that its home has ended and goes on with: nobody holds it, and it counts.

        SessionEnded if it was ended from here for good.
        """
        self._check_open()
        self.tell(told)
        known = self._known(told)
        if known is None:
            raise SessionNotFound(f"the session {told.id} of {self.home.name} is not known")
        if self.is_over(told.id):
            raise self._desk.over(known)
        return GuestSession(self._desk, known)

    def count_late(self, told: Session, used: Mapping[Unit, int], model: str | None) -> bool:
        """Count what a session of the home used in a turn that is over, however it has ended."""
        from sexton.spending.turn_spend import TurnSpend  # noqa: PLC0415  # when a turn is counted

        self._check_open()
        if self._known(told) is None:
            self._bring(told)
        known = self._known(told)
        if known is None:
            return False
        guard = self._desk.guards.of(self._desk, known)
        guard.learn(self._desk.rules(None))
        guard.look(known, fenced=False)
        TurnSpend(guard, lambda: known, lambda: False, fenced=False).beside(used, model)
        return True

    def ended(self, id: str) -> str | None:
        """Why the ledger takes a session of the home to have ended; None if it is open."""
        found = self._desk.ledger.index.find(self.home.name, id)
        return found[0].end_reason or "ended" if found and not found[0].is_open else None

    def is_over(self, id: str) -> bool:
        """Whether a session was ended from here, and not only for its time or its size.

        It must not go on under its old id; what its home has ended, the home may go on with.
        """
        found = self.known(id)
        if found is None or found.is_open:
            return False
        said = self._desk.ledger.journal.page(found, None, None, RECENT)
        ends = {each.reason.code for each in said if each.action == "end"}
        kind = end_kind(found.end_reason, found.home)
        return found.end_reason in ends and kind not in BY_POLICY

    def ended_above(self, id: str) -> Session | None:
        """The session that a subagent works for, if one was ended from here for good.

        Where a conversation was compressed, the row in which it goes on counts. A home may let a
        subagent go on after its own ends, and so may a reset for time or size.
        """
        seen, session = {id}, self.known(id)
        while session is not None and session.relation in WORKS_FOR:
            above = self.known(session.parent or "")
            if above is None or above.id in seen:
                return None
            last = self._last(above)
            code = None if last.is_open else self._ended_by(last)
            if code is not None and end_kind(code, last.home) not in BY_POLICY:
                return replace(last, end_reason=code)
            seen.add(above.id)
            session = above
        return None

    def _last(self, session: Session) -> Session:
        """The row in which a conversation goes on after its compressions."""
        seen: set[str] = set()
        while not session.is_open and session.id not in seen:
            seen.add(session.id)
            # It began when this one had ended; subagents from before may be very many.
            after = Place(session.ended_at or session.started_at, 0)
            rows = self._desk.ledger.board.children(self.home.name, session.id, after, RECENT)
            later = (each for each in rows if each.relation is Relation.COMPRESSION)
            session = next(later, session)
        return session

    def _ended_by(self, session: Session) -> str | None:
        """Why a session was ended from here; an end at another moment is its home's own."""
        said = self._desk.ledger.journal.page(session, None, None, RECENT)
        ends = (each for each in said if (each.action, each.result) == ("end", "done"))
        return next((each.reason.code for each in ends if each.at == session.ended_at), None)

    def running(self, is_meant: Callable[[Session], bool]) -> list[Watched]:
        """The processes of the home's sessions that are meant, also of those that have ended.

        What a subagent has started belongs to the session that began it.
        """
        found: dict[str, Session | None] = {}
        processes = []
        for each in self._desk.ledger.registry.running():
            if each.home != self.home.name:
                continue
            if each.session not in found:
                found[each.session] = self.known(each.session)
            session = found[each.session]
            if session is not None and is_meant(self.root(session)):
                processes.append(each)
        return self._desk.overseer().view(processes, lambda each: (found[each.session], None))

    def leaf(self, process: Process) -> str:
        """What runs in a process for what it is there: not the shell around that."""
        return self._desk.overseer().leaf(process)

    def known(self, id: str) -> Session | None:
        """What the ledger knows of a session of the home."""
        return next(iter(self._desk.ledger.index.find(self.home.name, id)), None)

    def root(self, session: Session) -> Session:
        """The session that a subagent works for, however deep it is; any other is its own.

        Of a conversation that was compressed it is the row in which that began.
        """
        seen = {session.id}
        while session.relation in WORKS_FOR and session.parent not in seen:
            above = self.known(session.parent or "")
            if above is None:
                break
            session = above
            seen.add(session.id)
        return session

    def tell(self, told: Session) -> None:
        """Let the ledger know of a session, or of its end, where it has not looked itself.

        What it has seen of an open one stands: whoever ends it goes by that. What was said in one
        after its end is owed as well. This process lets go of one that has ended.
        """
        known = self._known(told)
        if known is None:
            self._bring(told)
            return
        is_more = not told.is_open and told.message_count > known.message_count
        if known.is_open != told.is_open or is_more:
            ended = {"ended_at": told.ended_at, "end_reason": told.end_reason}
            self._bring(replace(_counted(known, told), state=told.state, **ended))
        if not told.is_open:
            self._desk.ledger.reaping.release([(known.ref, self.id)])

    def count(self, told: Session) -> None:
        """Let the ledger know how much has been said in an open session that is about to end."""
        known = self._known(told)
        if known is not None and known.is_open:
            self._bring(_counted(known, told))

    def _bring(self, told: Session) -> None:
        try:
            self._store(told)
        except HomeRewound:  # the ledger was set back: it learns of the home anew
            self.home = self._found_anew()
            self._store(told)

    def _found_anew(self) -> HomeRecord:
        home, homes = self.home, self._desk.ledger.homes
        for each in homes.all():
            if (each.host, each.path) == (home.host, home.path):
                return each
        assert home.path is not None  # it is not the native one
        assert home.host is not None
        return homes.attach(home.name, home.kind, home.path, home.host, home.act)

    def _store(self, told: Session) -> None:
        sighting = Sighting(seen=(replace(told, home=self.home.name),))
        self._desk.ledger.homes.store(self.home, sighting, None, self._desk.clock.now())

    def _known(self, told: Session) -> Session | None:
        return next(iter(self._desk.ledger.index.find(self.home.name, told.id)), None)

    def _join(self, session: Session) -> Session | None:
        if any(holder.worker.id == self.id for holder in session.holders):
            return session
        dead = dead_holders(session, self._desk.evidence(session))
        return self._desk.ledger.book.join(session, self.id, dead, self._desk.clock.now())


def _counted(known: Session, told: Session) -> Session:
    """What the ledger knows of a session, with as much in it as there is by now."""
    return replace(
        known,
        active_at=told.active_at,
        message_count=told.message_count,
        byte_count=told.byte_count,
        turn_count=told.turn_count,
    )


def _unplanned(_now: datetime) -> Schedule:
    """When to look again is known to whoever observes the home."""
    return Schedule(0)
