"""What should be done now?"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sexton.core.plan import (
    EndSession,
    Held,
    Plan,
    ReapSession,
    Reason,
    Tending,
    WarnSession,
)
from sexton.core.schedule import Schedule
from sexton.core.session import Session
from sexton.keeper.keeper_context import Estate, Rules, rules_now
from sexton.keeper.preconditions import as_seen
from sexton.liveness.evidence import Evidence
from sexton.liveness.policy import HOME, SILENT, LivenessPolicy, reap_reason, running_turn
from sexton.liveness.reaper import Deaths, find_deaths, orphans
from sexton.liveness.standing import open_sessions
from sexton.processes.model import Watched
from sexton.processes.overseer import Guard
from sexton.processes.policy import holding_process, left_to_owner
from sexton.resets.policy import (
    PINNED,
    ResetPolicy,
    busy_in_home,
    holding,
    limit_warning,
    open_in_terminal,
    reset_reason,
)
from sexton.rules.rulebook import Rulebook
from sexton.sessions.model import Place

CHUNK = 500


@dataclass(frozen=True, slots=True)
class Survey:
    """A plan, and upkeep: due times that had come for nothing, and what the dead left behind."""

    plan: Plan
    settled: tuple[tuple[Session, Schedule], ...]
    deaths: Deaths


def survey(estate: Estate, home: str | None = None, wanted: Rulebook | None = None) -> Survey:
    """Ask the policies about the sessions of the dead and those that are due. Changes nothing.

    Where the stored due times are not of these rules, all open sessions are asked about.
    """
    now = estate.clock.now()
    rules = rules_now(estate, wanted)
    deaths = find_deaths(estate, rules.in_force.rules.liveness)
    guard = estate.guard()
    decided: dict[int, Tending | Held] = {
        reap.seen.ref: _unless_doubted(reap, deaths)
        for reap in deaths.reaps
        if home in (None, reap.seen.home)
    }
    decided |= {each.seen.ref: each for each in orphans(estate, home)}
    settled: list[tuple[Session, Schedule]] = []
    for session in _candidates(estate, rules, now):
        # What is not attached here is the affair of whoever reaches it: also its due times are.
        elsewhere = session.home not in estate.homes or home not in (None, session.home)
        if session.ref in decided or elsewhere:
            continue
        decision = decide_one(estate, rules, session, deaths, guard)
        if decision is not None:
            decided[session.ref] = decision
        elif session.due_at is not None and session.due_at <= now:
            settled.append((session, rules.schedule(session)))
    plan = Plan(
        id=uuid.uuid4().hex,
        ledger=estate.ledger.id,
        policies=rules.in_force.digest,
        made_at=now,
        actions=tuple(each for each in decided.values() if not isinstance(each, Held)),
        held=tuple(each for each in decided.values() if isinstance(each, Held)),
        observed=tuple(sorted(estate.observed_homes())),
        homes=tuple(each for each in estate.homes if home in (None, each)),
    )
    return Survey(plan, tuple(settled), deaths)


def decider(estate: Estate, rules: Rules) -> Callable[[Session], Tending | Held | None]:
    """What a plan says of any open session, from one look at the dead and at processes."""
    deaths, guard = find_deaths(estate, rules.in_force.rules.liveness), estate.guard()
    return lambda session: decide_one(estate, rules, session, deaths, guard)


def decide(
    session: Session,
    policy: ResetPolicy | None,
    liveness: LivenessPolicy,
    evidence: Mapping[str, Evidence],
    now: datetime,
    guard: Callable[[Session, ResetPolicy], Sequence[Watched]],
) -> Tending | Held | None:
    """What to do about a session, or what keeps it from being done, or None.

    The guard gives the processes of a session; it is asked only where a reset is due.
    """
    death = reap_reason(session, evidence, liveness, now)
    if death is not None:
        return _reap(session, death)
    if policy is None:
        return None
    reason = reset_reason(session, policy, now)
    if reason is not None:
        turn, proof = running_turn(session, evidence), evidence.get(HOME)
        held_by = (
            holding(session, turn, now)
            or busy_in_home(proof)
            or open_in_terminal(reason, session, proof)
        )
        if held_by is None:
            processes = guard(session, policy)
            held_by = holding_process(processes, now) or left_to_owner(
                session, policy, proof, processes, now
            )
        if held_by is not None:
            by = turn.worker.id if turn and not session.pinned else ""
            return Held(seen=as_seen(session), wanted=reason, holding=held_by, by=by)
        return EndSession(seen=as_seen(session), reason=reason)
    warning = limit_warning(session, policy, now)
    if warning is not None:
        return WarnSession(seen=as_seen(session), limit=warning[0], reason=warning[1])
    return None


def _reap(session: Session, death: Reason) -> ReapSession | Held:
    """A pin holds back what silence alone asks for; it brings nobody back to life."""
    if death.code == SILENT and session.pinned:
        return Held(seen=as_seen(session), wanted=death, holding=PINNED)
    beats = tuple((each.worker.id, each.worker.beat) for each in session.holders)
    return ReapSession(seen=as_seen(session), reason=death, dead=beats)


def reschedule_stale(estate: Estate) -> int:
    """Compute the due times that older policies left behind, in chunks; how many."""
    count = 0
    rules = rules_now(estate)
    while stale := estate.ledger.index.stale(rules.in_force.serial, CHUNK):
        stored = estate.ledger.index.reschedule(
            [(session, rules.schedule(session)) for session in stale]
        )
        if not stored:  # all of them are being written to right now; the next sweep sees them
            break
        count += stored
    return count


def decide_one(
    estate: Estate, rules: Rules, session: Session, deaths: Deaths, guard: Guard
) -> Tending | Held | None:
    """What a plan says of one open session."""
    now = estate.clock.now()
    liveness = rules.in_force.rules.liveness
    evidence = estate.of_holders(session)
    decision = decide(session, rules.reset_policy(session), liveness, evidence, now, guard)
    return None if decision is None else _unless_doubted(decision, deaths)


def _unless_doubted(decision: Tending | Held, deaths: Deaths) -> Tending | Held:
    """The decision, held back if it rests on a death that is not believed yet."""
    doubt = deaths.held.get(decision.seen.ref)
    if doubt is not None and isinstance(decision, ReapSession | EndSession):
        return Held(seen=decision.seen, wanted=decision.reason, holding=doubt)
    return decision


def _candidates(estate: Estate, rules: Rules, now: datetime) -> Iterator[Session]:
    if rules.are_in_force and not estate.ledger.index.stale(rules.in_force.serial, 1):
        yield from _due(estate, now)
        yield from open_sessions(estate.ledger, _recorded_only(estate))
        return
    yield from open_sessions(estate.ledger, [home.name for home in estate.ledger.homes.all()])


def _recorded_only(estate: Estate) -> list[str]:
    """Homes that keepers only observe, asked about by a person.

    What a keeper has recorded there is due no more, and it was not done.
    """
    return [] if estate.unattended else sorted(estate.observed_homes())


def _due(estate: Estate, now: datetime) -> Iterator[Session]:
    after: Place | None = None
    while page := estate.ledger.index.due(now, after, CHUNK):
        yield from page
        last = page[-1]
        assert last.due_at is not None
        after = Place(last.due_at, last.ref)
