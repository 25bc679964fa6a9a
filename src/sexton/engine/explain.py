"""Why is a session as it is, and what would change it?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import assert_never

from sexton.engine.budgets import explained, standings, who
from sexton.engine.estate import Estate, rules_now
from sexton.engine.plan import decide
from sexton.model.plan import EndSession, Held, JournalEntry, ReapSession, Reason, WarnSession
from sexton.model.session import NATIVE, Session
from sexton.model.worker import Holder
from sexton.policies.liveness import LivenessPolicy, reap_reason, running_turn, stalled_for
from sexton.policies.reset import holding, standing

RECENT = 10


@dataclass(frozen=True, slots=True)
class Answer:
    """One question about the session, its answer, and the detail behind it."""

    question: str
    answer: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Everything that can be said about why; every surface renders this value."""

    session: Session
    answers: tuple[Answer, ...]
    journal: tuple[JournalEntry, ...]


def explain(estate: Estate, session: Session) -> Explanation:
    """Run the same policies as the keeper on one session and keep every answer."""
    return Explanation(
        session=session,
        answers=tuple(_answers(estate, session)),
        journal=tuple(estate.ledger.journal.page(session, None, None, RECENT)),
    )


def _answers(estate: Estate, session: Session) -> Iterator[Answer]:
    if not session.is_open:
        ended = f"{session.ended_at:%Y-%m-%d %H:%M:%S} UTC"
        yield Answer("state", session.state, f"ended {ended}: {session.end_reason}")
        return
    yield Answer("state", session.state, f"open since {session.started_at:%Y-%m-%d %H:%M:%S} UTC")
    yield from _holders(estate, session)
    yield from _silence(estate, session)
    yield from _decision(estate, session)
    if session.home == NATIVE:
        for standing in standings(estate, who(estate, session)):
            for budget, word, words in explained(standing, session.source):
                yield Answer(f"budget.{budget.name}", word, words)


def _holders(estate: Estate, session: Session) -> Iterator[Answer]:
    if not session.holders:
        words = "nobody holds it" if session.home == NATIVE else "its home names no owner"
        yield Answer("holder", "none", words)
    evidence = estate.of_holders(session)
    policy = estate.rules(None).rules.liveness
    for holder in session.holders:
        proof = evidence[holder.worker.id]
        detail = "; ".join((*proof.signals, *_turn(session, holder, policy, estate.clock.now())))
        yield Answer("holder", proof.verdict, detail)


def _turn(session: Session, holder: Holder, policy: LivenessPolicy, now: datetime) -> Iterator[str]:
    if holder.busy_since is not None:
        yield f"in a turn since {holder.busy_since:%H:%M:%S} UTC"
    stalled = stalled_for(session, holder, policy, now)
    if stalled is not None:
        yield f"stalled: no progress for {int(stalled.total_seconds())} s"


def _silence(estate: Estate, session: Session) -> Iterator[Answer]:
    """What silence means for a session of whose owner nothing is known."""
    policy, now = estate.rules(None).rules.liveness, estate.clock.now()
    bound = policy.bound(session.source)
    if session.holders or reap_reason(session, {}, policy, now) is not None:
        return
    if bound is not None:
        silent, most = (each / timedelta(days=1) for each in (now - session.active_at, bound))
        words = f"dead after {most:.1f} days of silence, silent for {max(0, silent):.1f}"
        yield Answer("reap", "kept", f"nothing is known of its owner; {words}")
    elif session.home != NATIVE:
        words = f"liveness.inactivity_bound sets no bound for '{session.source}'"
        yield Answer("reap", "kept", f"nothing is known of its owner, and {words}")


def _decision(estate: Estate, session: Session) -> Iterator[Answer]:
    now = estate.clock.now()
    rules = rules_now(estate)
    policy = rules.reset_policy(session)
    evidence = estate.of_holders(session)
    match decide(session, policy, rules.in_force.rules.liveness, evidence, now):
        case ReapSession(reason=reason):
            yield Answer("reap", "due", reason.text)
        case EndSession(reason=reason):
            yield Answer("reset", "due", reason.text)
        case Held(wanted=wanted, holding=held_by):
            yield Answer("reset", "held", f"{wanted.text}; held back because {held_by.text}")
        case WarnSession(reason=reason):
            yield Answer("reset", "warning due", reason.text)
        case None if policy is None:
            yield Answer("reset", "kept", "its home sets no reset policy")
        case None:
            shield = holding(session, running_turn(session, evidence), now)
            yield Answer("reset", "kept", _kept(shield))
        case never:
            assert_never(never)
    for rule in standing(session, policy, now) if policy else ():
        yield Answer(f"reset.{rule.code}", "rule", rule.text)


def _kept(shield: Reason | None) -> str:
    return "no rule ends it now" + (f"; besides, {shield.text}" if shield else "")
