"""Why is a session as it is, and what would change it?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sexton.engine.estate import Estate, rules_now
from sexton.engine.plan import decide
from sexton.model.plan import EndSession, Held, JournalEntry, Reason, WarnSession
from sexton.model.session import NATIVE, Session
from sexton.policies.liveness import judge
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
    yield from _reset(estate, session)


def _holders(estate: Estate, session: Session) -> Iterator[Answer]:
    if not session.holders:
        words = "nobody holds it" if session.home == NATIVE else "its home names no owner"
        yield Answer("holder", "none", words)
    sights = estate.sights(session)
    for holder in session.holders:
        identity = holder.worker.identity
        evidence = judge(identity.pid, identity.host, sights[holder.worker.id])
        busy = (
            ""
            if holder.busy_since is None
            else f", in a turn since {holder.busy_since:%H:%M:%S} UTC"
        )
        yield Answer("holder", evidence.verdict, "; ".join(evidence.signals) + busy)


def _reset(estate: Estate, session: Session) -> Iterator[Answer]:
    now = estate.clock.now()
    rules = rules_now(estate)
    policy = rules.reset_policy(session)
    if policy is None:
        yield Answer("reset", "kept", "its home sets no reset policy")
        return
    busy = estate.is_busy(session)
    match decide(session, policy, busy, now):
        case EndSession(reason=reason):
            yield Answer("reset", "due", reason.text)
        case Held(wanted=wanted, holding=held_by):
            yield Answer("reset", "held", f"{wanted.text}; held back because {held_by.text}")
        case WarnSession(reason=reason):
            yield Answer("reset", "warning due", reason.text)
        case None:
            yield Answer("reset", "kept", _kept(holding(session, busy=busy)))
    for rule in standing(session, policy, now):
        yield Answer(f"reset.{rule.code}", "rule", rule.text)


def _kept(shield: Reason | None) -> str:
    return "no rule ends it now" + (f"; besides, {shield.text}" if shield else "")
