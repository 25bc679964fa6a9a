"""Which session does a key mean now?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from sexton.core.endings import is_reap
from sexton.core.message import one_line
from sexton.core.plan import Reason
from sexton.core.record import record, replace
from sexton.core.schedule import Schedule
from sexton.core.session import NATIVE, Session, State
from sexton.errors import (
    LedgerBusy,
    ProcessesRunning,
    SessionBusy,
    SessionEnded,
    SessionNotFound,
)
from sexton.liveness.model import Lost
from sexton.liveness.policy import dead_holders, is_busy, running_turn
from sexton.resets.policy import holding, reset_reason
from sexton.sessions.model import Birth, Opened, Previous, WorkerUnknown
from sexton.sessions.watermarks import look_back
from sexton.sessions.worker_context import Desk

ATTEMPTS = 50


@record(kw_only=False)
class Opening:
    """A session that was opened, how, and the one its key had before if this one begins anew."""

    session: Session
    opened: Opened
    previous: Previous | None = None


def open_key(desk: Desk, birth: Birth) -> Opening:
    """The current session of a key, joined; a new one if there is none; the next one if it is over.

    No keeper is needed: an overdue session is reset here.
    """
    if birth.key is None:
        return Opening(begin(desk, birth), Opened.NEW)
    look_back(desk.membership, desk.membership.watermarks.of_key(birth.key))
    for _ in range(ATTEMPTS):
        now = desk.clock.now()
        current = desk.ledger.book.current(birth.key)
        with known_worker(desk):
            opened = (
                _begin_next(desk, birth, now)
                if current is None
                else _enter(desk, current, birth, now)
            )
            if opened is not None:
                return opened
    raise LedgerBusy(f"the key {birth.key} changed hands {ATTEMPTS} times while it was opened")


def open_id(desk: Desk, id: str) -> Opening:
    """The open session with that id, joined; if it was compressed, the newest of its chain."""
    look_back(desk.membership, desk.membership.watermarks.of_id(id))
    for _ in range(ATTEMPTS):
        found = desk.ledger.index.find(NATIVE, id)
        if not found:
            raise SessionNotFound(f"there is no session {id}")
        session = desk.ledger.compression.tip(found[0].ref) or found[0]
        if not session.is_open:
            raise desk.over(session)
        with known_worker(desk):
            joined = _join(desk, session, desk.clock.now())
            if joined is not None:
                return joined
    raise LedgerBusy(f"the session {id} changed hands {ATTEMPTS} times while it was opened")


def begin(desk: Desk, birth: Birth) -> Session:
    """A new session without a key."""
    for _ in range(ATTEMPTS):
        now = desk.clock.now()
        with known_worker(desk):
            begun = desk.ledger.book.begin(scheduled(desk, birth, now), now)
            if begun is None:
                raise SessionBusy(f"the id {birth.id} is taken")
            return begun
    raise LedgerBusy(f"the ledger lost its worker {ATTEMPTS} times while a session was opened")


def reset(desk: Desk, old: Session, *, force: bool) -> Opening:
    """End the session on request and start the next one of its key.

    Unless forced, SessionBusy while a turn runs in it, but for those the caller is inside of.
    """
    from sexton.processes.policy import listed, running  # noqa: PLC0415  # few agents ask

    reason = Reason("reset", "asked for by the agent")
    for _ in range(ATTEMPTS):  # whoever writes at the same moment is heard first
        now = desk.clock.now()
        found = desk.ledger.index.find(NATIVE, old.id)
        if not found or found[0].epoch != old.epoch or not found[0].is_open:
            break
        others = [holder for holder in found[0].holders if holder.worker.id != desk.worker]
        current = replace(found[0], holders=tuple(others))
        busy = is_busy(current, desk.evidence(current))
        if not force and (busy or any(turn.is_company_in(old) for turn in tuple(desk.turns))):
            whose = "another worker" if busy else "another thread or task"
            raise SessionBusy(f"a turn of {whose} is running in the session {old.id}")
        if not force and (left := running(desk.overseer().of_native(current))):
            raise ProcessesRunning(f"the session {old.id} has running processes: {listed(left)}")
        next_one = scheduled(desk, _successor(desk, old), now)
        entry = desk.entry(old, "end", reason)
        try:
            fresh = desk.ledger.book.replace(current, reason, next_one, entry, now)
        except WorkerUnknown:
            break
        if fresh is not None:
            return _instead_of(old, reason, now, fresh)
    raise desk.refusal(old)


def revive(desk: Desk, lost: Session) -> Session:
    """Open a reaped session again, with its history; the epoch rises, so nobody else goes on."""
    desk.membership.ensure_present()
    desk.membership.renew()  # whoever was taken for dead goes on as somebody else
    found = desk.ledger.index.find(NATIVE, lost.id)
    if not found or not is_reap(found[0].end_reason, found[0].home):
        raise desk.refusal(lost)
    now, in_force = desk.clock.now(), desk.rules(None)
    plan = in_force.rules.schedule(replace(found[0], active_at=now), in_force.serial)
    reason = Reason("revived", f"it was taken for dead: {found[0].end_reason}")
    entry = desk.entry(lost, "revive", reason)
    going_on = Lost(ref=found[0].ref, schedule=plan, entry=entry, worker=desk.worker)
    revived = desk.ledger.reaping.revive([going_on], now)
    if not revived:
        if found[0].state not in (State.ENDED, State.FINALIZED):
            raise desk.over(found[0])
        raise SessionEnded(f"the conversation of the session {lost.id} goes on in another one")
    return revived[0]


def scheduled(desk: Desk, birth: Birth, now: datetime) -> Birth:
    """The birth with the due time the rules give a session that starts now, held by whom we are."""
    in_force = desk.rules(None)
    unborn = Session(
        ref=0,
        home=NATIVE,
        id=birth.id,
        key=birth.key,
        source=birth.source,
        chat_type=birth.chat_type,
        started_at=now,
        active_at=now,
    )
    schedule = in_force.rules.schedule(unborn, in_force.serial)
    return replace(birth, schedule=schedule, worker=birth.worker and desk.worker)


def new_id() -> str:
    """A name for a session that nothing else has."""
    return os.urandom(16).hex()


@contextmanager
def known_worker(desk: Desk) -> Iterator[None]:
    """Where the ledger does not know this worker, it was set back: the next try is a new one's."""
    try:
        yield
    except WorkerUnknown:
        desk.membership.renew()


def _begin_next(desk: Desk, birth: Birth, now: datetime) -> Opening | None:
    """The next session of a key that has none open, or its first; None if somebody was faster."""
    fresh = desk.ledger.book.begin(scheduled(desk, birth, now), now)
    if fresh is None:
        return None
    last = desk.ledger.index.before(fresh)
    if last is None:
        return Opening(fresh, Opened.NEW)
    ended_at, why = last.ended_at or last.active_at, last.end_reason or ""
    return Opening(fresh, Opened.RESET, Previous(id=last.id, end_reason=why, ended_at=ended_at))


def _instead_of(old: Session, reason: Reason, now: datetime, fresh: Session) -> Opening:
    last = Previous(id=old.id, end_reason=reason.code, ended_at=now)
    return Opening(fresh, Opened.RESET, last)


def _enter(desk: Desk, current: Session, birth: Birth, now: datetime) -> Opening | None:
    policy = desk.rules(None).rules.reset_policy(current)
    reason = reset_reason(current, policy, now)
    if reason is None:
        desk.held.pop(current.id, None)
    if reason is None or _is_held(desk, current, reason, now):
        return _join(desk, current, now)
    fresh = desk.ledger.book.replace(
        current, reason, scheduled(desk, birth, now), desk.entry(current, "end", reason), now
    )
    return None if fresh is None else _instead_of(current, reason, now, fresh)


def _is_held(desk: Desk, session: Session, wanted: Reason, now: datetime) -> bool:
    """Whether something holds its reset back; its processes are looked at last."""
    from sexton.processes.policy import holding_process  # noqa: PLC0415  # few are overdue

    turn = running_turn(session, desk.evidence(session))
    held = holding(session, turn, now) or holding_process(desk.overseer().of_native(session), now)
    if held is None:
        desk.held.pop(session.id, None)
        return False
    who = turn.worker.id if turn and not session.pinned else ""
    mark = f"{wanted.code} {held.code} {who}"
    if desk.held.get(session.id) != mark:  # a key may be opened for every message
        import logging  # noqa: PLC0415  # slow to load, and few resets are held back

        _forget_ended(desk)
        desk.held[session.id] = mark
        words = "reset of %s held back by %s (%s): %s"
        name, log = one_line(session.id), logging.getLogger("sexton.agent")
        log.info(words, name, held.code, wanted.code, held.text)
    return True


def _forget_ended(desk: Desk) -> None:
    """Ask about two that were noted before: so no more are kept than about twice what is open."""
    for id in list(desk.held)[:2]:
        mark, found = desk.held.pop(id, None), desk.ledger.index.find(NATIVE, id)
        if mark is not None and found and found[0].is_open:
            desk.held[id] = mark  # behind all others


def _join(desk: Desk, session: Session, now: datetime) -> Opening | None:
    dead = dead_holders(session, desk.evidence(session))
    joined = desk.ledger.book.join(session, desk.worker, dead, now)
    if joined is None:
        return None
    is_adopted = joined.epoch != session.epoch  # nobody living held it
    return Opening(joined, Opened.ADOPTED if is_adopted else Opened.JOINED)


def _successor(desk: Desk, old: Session) -> Birth:
    return Birth(
        id=new_id(),
        key=old.key,
        source=old.source,
        chat_type=old.chat_type,
        job=old.job,
        worker=desk.worker,
        schedule=Schedule(0),
    )
