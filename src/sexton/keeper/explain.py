"""Why is a session as it is, and what would change it?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import assert_never

from sexton.core.plan import EndSession, Held, JournalEntry, ReapSession, Reason, WarnSession
from sexton.core.session import NATIVE, Session
from sexton.finalizers.job_explanation import owed
from sexton.keeper.keeper_context import Estate, rules_now
from sexton.keeper.propose import decide
from sexton.liveness.evidence import Verdict
from sexton.liveness.model import Holder
from sexton.liveness.policy import (
    HOME,
    SILENT,
    LivenessPolicy,
    reap_reason,
    running_turn,
    stalled_for,
)
from sexton.processes.model import Watched
from sexton.processes.policy import bearing, holding_process
from sexton.processes.watched_processes import of_session
from sexton.resets.policy import busy_in_home, holding, standing
from sexton.retention.garbage_collection import garbage
from sexton.retention.model import AWAY, HERE
from sexton.retention.policy import Fate
from sexton.retention.retain import BACK, brought_back, verdict_of
from sexton.retention.undo import whereabouts
from sexton.spending.budget_standing import explained, standings, unpriced, who

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
        session=estate.content.session(session),
        answers=tuple(_answers(estate, session)),
        journal=tuple(estate.ledger.journal.page(session, None, None, RECENT)),
    )


def _answers(estate: Estate, session: Session) -> Iterator[Answer]:
    if not session.is_open:
        ended = f"{session.ended_at:%Y-%m-%d %H:%M:%S} UTC"
        yield Answer("state", session.state, f"ended {ended}: {session.end_reason}")
        yield from _processes(of_session(estate, session))
        yield from _finalizers(estate, session)
        yield from _removal(estate, session)
        yield from _retention(estate, session)
        tip = estate.ledger.compression.tip(session.ref)
        if tip is not None:
            yield Answer("conversation", tip.state, f"it goes on as the session {tip.id}")
        return
    yield Answer("state", session.state, f"open since {session.started_at:%Y-%m-%d %H:%M:%S} UTC")
    yield from _holders(estate, session)
    yield from _silence(estate, session)
    processes = of_session(estate, session)
    yield from _processes(processes)
    yield from _decision(estate, session, processes)
    yield from _budgets(estate, session)
    yield from _finalizers(estate, session)


def _budgets(estate: Estate, session: Session) -> Iterator[Answer]:
    """How its budgets stand; of a home that is not attached those that something was counted in."""
    blind, is_known = unpriced(estate, session), session.home in (NATIVE, *estate.records)
    for stand in standings(estate, who(estate, session)):
        if is_known or stand.counter:
            for budget, word, words in explained(stand, session.source, blind):
                yield Answer(f"budget.{budget.name}", word, words)


def _finalizers(estate: Estate, session: Session) -> Iterator[Answer]:
    for finalizer, answer, words in owed(estate, session):
        yield Answer(f"finalizer.{finalizer}", answer, words)


def _removal(estate: Estate, session: Session) -> Iterator[Answer]:
    """Where it is if it was removed, and else whether it is garbage."""
    if session.state in AWAY:
        yield Answer("vault", *whereabouts(estate.ledger, session))
    elif estate.removing is not None:
        policy, now = estate.removing.garbage, estate.clock.now()
        found = garbage(estate.ledger, session, policy, now)
        if found is not None:
            yield Answer("gc", found[0], found[1].text)


def _retention(estate: Estate, session: Session) -> Iterator[Answer]:
    """What is to become of what it left behind, as far as it is still here."""
    retention = estate.rules(None).rules.retention
    among = retention.of(session.source).keep_last or 0
    for remains in estate.ledger.retained.named(session.home, [session.id], among):
        if session.state not in HERE:
            yield Answer("retention", "over", f"it is {session.state}: only its record is here")
            continue
        verdict = verdict_of(remains, retention, estate.clock.now())
        keeps = estate.removing is not None and estate.removing.keeps_records(session.home)
        moves = verdict.rows is not Fate.KEEP and keeps
        fate = verdict.rows if moves else verdict.files
        what = {Fate.KEEP: "kept", Fate.ARCHIVE: "archive", Fate.REMOVE: "remove"}[fate]
        if fate is not Fate.KEEP and not moves:
            what = f"{what} files"
        if fate is not Fate.KEEP and _is_back(estate, session):
            yield Answer("retention", "kept", f"{BACK.text}; else {what}: {verdict.reason.text}")
        else:
            yield Answer("retention", what, verdict.reason.text)


def _is_back(estate: Estate, session: Session) -> bool:
    means, ids = estate.removing, [session.id]
    return means is not None and bool(brought_back(estate, means, session.home, ids))


def _holders(estate: Estate, session: Session) -> Iterator[Answer]:
    evidence = estate.of_holders(session)
    if HOME in evidence:
        proof = evidence[HOME]
        yield Answer("owner", proof.verdict, "; ".join(proof.signals))
    elif not session.holders:
        words = "nobody holds it" if session.home == NATIVE else "its home names no owner"
        yield Answer("holder", "none", words)
    policy = estate.rules(None).rules.liveness
    for holder in session.holders:
        proof = evidence[holder.worker.id]
        detail = "; ".join((*proof.signals, *_turn(session, holder, policy, estate.clock.now())))
        yield Answer("holder", proof.verdict, detail)


def _processes(processes: Sequence[Watched]) -> Iterator[Answer]:
    for each in processes:
        who = f"{each.process.name} on {each.process.identity.host}"
        words = f"{who}: {bearing(each)}; {each.because}: {each.process.shown}"
        yield Answer("process", each.doing, words)


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
    evidence = estate.of_holders(session)
    known = HOME in evidence and evidence[HOME].verdict is not Verdict.UNKNOWN
    if session.holders or known or reap_reason(session, evidence, policy, now) is not None:
        return
    if bound is not None:
        silent, most = (each / timedelta(days=1) for each in (now - session.active_at, bound))
        words = f"dead after {most:.1f} days of silence, silent for {max(0, silent):.1f}"
        yield Answer("reap", "kept", f"nothing is known of its owner; {words}")
    elif session.home != NATIVE:
        words = f"liveness.inactivity_bound sets no bound for '{session.source}'"
        yield Answer("reap", "kept", f"nothing is known of its owner, and {words}")


def _decision(estate: Estate, session: Session, processes: Sequence[Watched]) -> Iterator[Answer]:
    now = estate.clock.now()
    rules = rules_now(estate)
    policy = rules.reset_policy(session)
    evidence = estate.of_holders(session)
    liveness = rules.in_force.rules.liveness
    match decide(session, policy, liveness, evidence, now, lambda *_: processes):
        case ReapSession(reason=reason):
            yield Answer("reap", "due", reason.text)
        case EndSession(reason=reason):
            yield Answer("reset", "due", reason.text)
        case Held(wanted=wanted, holding=held_by):
            asked = "reap" if wanted.code == SILENT else "reset"
            yield Answer(asked, "held", f"{wanted.text}; held back because {held_by.text}")
        case WarnSession(reason=reason):
            yield Answer("reset", "warning due", reason.text)
        case None if policy is None:
            yield Answer("reset", "kept", "its home sets no reset policy")
        case None:
            turn = running_turn(session, evidence)
            shield = holding(session, turn, now) or busy_in_home(evidence.get(HOME))
            shield = shield or holding_process(processes, now)
            yield Answer("reset", "kept", _kept(shield))
        case never:
            assert_never(never)
    for rule in standing(session, policy, now) if policy else ():
        yield Answer(f"reset.{rule.code}", "rule", rule.text)


def _kept(shield: Reason | None) -> str:
    return "no rule ends it now" + (f"; besides, {shield.text}" if shield else "")
