"""What should be done now?"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sexton.engine.estate import Estate, Rules, rules_now
from sexton.model.plan import Action, EndSession, Held, Plan, Seen, WarnSession
from sexton.model.schedule import Schedule
from sexton.model.session import Session, State
from sexton.policies.reset import ResetPolicy, holding, limit_warning, reset_reason, schedule
from sexton.policies.rulebook import Rulebook
from sexton.ports import Filter, Place

CHUNK = 500


@dataclass(frozen=True, slots=True)
class Survey:
    """A plan, and the sessions whose due time had come although nothing is due: index upkeep."""

    plan: Plan
    settled: tuple[tuple[Session, Schedule], ...]


def survey(estate: Estate, home: str | None = None, wanted: Rulebook | None = None) -> Survey:
    """Ask the policies about every session whose due time has come. Changes nothing.

    Where the stored due times are not of these rules, all open sessions are asked about.
    """
    now = estate.clock.now()
    rules = rules_now(estate, wanted)
    actions: list[Action] = []
    held: list[Held] = []
    settled: list[tuple[Session, Schedule]] = []
    for session in _candidates(estate, rules, now):
        if home not in (None, session.home):
            continue
        policy = rules.reset_policy(session)
        match decide(session, policy, estate.is_busy(session), now):
            case Held() as decision:
                held.append(decision)
            case None:
                settled.append((session, _next(session, policy, rules)))
            case decision:
                actions.append(decision)
    plan = Plan(
        id=uuid.uuid4().hex,
        ledger=estate.ledger.id,
        policies=rules.in_force.digest,
        made_at=now,
        actions=tuple(actions),
        held=tuple(held),
    )
    return Survey(plan, tuple(settled))


def decide(
    session: Session, policy: ResetPolicy | None, busy: bool, now: datetime
) -> Action | Held | None:
    """What to do about a session, or what keeps it from being done, or None."""
    if policy is None:
        return None
    reason = reset_reason(session, policy, now)
    if reason is not None:
        held_by = holding(session, busy=busy)
        if held_by is not None:
            return Held(seen=as_seen(session), wanted=reason, holding=held_by)
        return EndSession(seen=as_seen(session), reason=reason)
    warning = limit_warning(session, policy, now)
    if warning is not None:
        return WarnSession(seen=as_seen(session), limit=warning[0], reason=warning[1])
    return None


def reschedule_stale(estate: Estate) -> int:
    """Compute the due times that older policies left behind, in chunks; how many."""
    count = 0
    rules = rules_now(estate)
    serial = rules.in_force.serial
    while stale := estate.ledger.index.stale(serial, CHUNK):
        stored = estate.ledger.index.reschedule(
            [(session, _next(session, rules.reset_policy(session), rules)) for session in stale]
        )
        if not stored:  # all of them are being written to right now; the next sweep sees them
            break
        count += stored
    return count


def as_seen(session: Session) -> Seen:
    """The session as a precondition."""
    return Seen(
        ref=session.ref,
        home=session.home,
        id=session.id,
        epoch=session.epoch,
        active_at=session.active_at,
        message_count=session.message_count,
        turn_count=session.turn_count,
        pinned=session.pinned,
    )


def _next(session: Session, policy: ResetPolicy | None, rules: Rules) -> Schedule:
    serial = rules.in_force.serial
    return Schedule(serial) if policy is None else schedule(session, policy, serial)


def _candidates(estate: Estate, rules: Rules, now: datetime) -> Iterator[Session]:
    index = estate.ledger.index
    if rules.are_in_force and not index.stale(rules.in_force.serial, 1):
        yield from _due(estate, now)
        return
    place: Place | None = None
    while page := index.page(Filter(state=State.OPEN), place, CHUNK):
        yield from page
        place = Place(page[-1].active_at, page[-1].ref)


def _due(estate: Estate, now: datetime) -> Iterator[Session]:
    after: Place | None = None
    while page := estate.ledger.index.due(now, after, CHUNK):
        yield from page
        last = page[-1]
        assert last.due_at is not None
        after = Place(last.due_at, last.ref)
