"""Who has died, and what did they leave behind?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sexton.engine.estate import Estate
from sexton.model.evidence import Evidence, Verdict
from sexton.model.plan import Reason
from sexton.model.session import Session
from sexton.model.worker import Worker
from sexton.policies.liveness import LivenessPolicy, dead_holders
from sexton.policies.mass_death import SHARE, Doubt, doubt


@dataclass(frozen=True, slots=True, kw_only=True)
class Deaths:
    """The dead with their evidence, the sessions they hold, children first, and what is held back.

    `held` are sessions, by row, whose owners' death is doubted for now.
    """

    dead: tuple[tuple[Worker, Evidence], ...] = ()
    sessions: tuple[Session, ...] = ()
    held: Mapping[int, Reason] = field(default_factory=dict)
    doubt: Doubt = field(default_factory=Doubt)


def find_deaths(estate: Estate, policy: LivenessPolicy) -> Deaths:
    """Judge every worker of the ledger; costs what there are processes, not sessions."""
    workers = estate.ledger.reaping.suspects()
    evidence = estate.evidence(workers)
    dead = [each for each in workers if evidence[each.id].verdict is Verdict.DEAD]
    sessions = _held_by(estate, dead)
    unproven = frozenset(each.id for each in dead if not evidence[each.id].kernel)
    lost = _lost(sessions, frozenset(each.id for each in dead), unproven)
    living = [each for each in workers if evidence[each.id].verdict is not Verdict.DEAD]
    now = doubt(
        estate.doubt,
        unproven,
        _held_at_all(estate, lost, living),
        estate.look(),
        policy,
        lost=len(lost),
    )
    return Deaths(
        dead=tuple((each, evidence[each.id]) for each in dead if each.id not in now.doubted),
        sessions=tuple(children_first(list(sessions.values()))),
        held={
            session.ref: now.reason
            for session in sessions.values()
            if any(each.worker.id in now.doubted for each in session.holders)
        },
        doubt=now,
    )


def _held_by(estate: Estate, workers: Iterable[Worker]) -> dict[int, Session]:
    found = estate.ledger.reaping.sessions_of(*(worker.id for worker in workers))
    return {session.ref: session for session in found}


def _lost(
    sessions: Mapping[int, Session], dead: frozenset[str], unproven: frozenset[str]
) -> frozenset[int]:
    """The sessions that would be without a living holder, and would live but for a silence."""
    if not unproven:
        return frozenset()
    holders = {ref: {each.worker.id for each in held.holders} for ref, held in sessions.items()}
    return frozenset(ref for ref, ids in holders.items() if ids <= dead and ids & unproven)


def _held_at_all(estate: Estate, lost: frozenset[int], living: Iterable[Worker]) -> int:
    """How many sessions are held, lost ones included; counted until they make no mass of those."""
    held = set(lost)
    for worker in living:
        if len(lost) <= SHARE * len(held):
            break
        held |= _held_by(estate, [worker]).keys()
    return len(held)


def bury(estate: Estate, deaths: Deaths) -> None:
    """Record the deaths, and free the sessions that live on without the dead."""
    evidence = {worker.id: proof for worker, proof in deaths.dead}
    policy = estate.rules(None).rules.liveness
    # Declared first: a keeper that stops in between leaves dead holders that the next one finds.
    estate.ledger.reaping.declare(
        [(worker, f"{proof.code}: {'; '.join(proof.signals)}") for worker, proof in deaths.dead],
        estate.clock.now(),
    )
    estate.ledger.reaping.release(
        [
            (session.ref, worker)
            for session in deaths.sessions
            if _lives_on(session, evidence, policy)
            for worker in dead_holders(session, estate.of_holders(session))
            if worker in evidence
        ]
    )


def children_first(sessions: Sequence[Session]) -> list[Session]:
    """The sessions in an order in which no parent comes before its child."""
    parents = {session.id: session.parent for session in sessions}

    def depth(id: str) -> int:
        steps, current = 0, parents.get(id)
        while current in parents and steps < len(parents):  # a cycle ends somewhere too
            steps, current = steps + 1, parents[current]
        return steps

    return sorted(sessions, key=lambda session: -depth(session.id))


def _lives_on(session: Session, evidence: Mapping[str, Evidence], policy: LivenessPolicy) -> bool:
    """A conversation waits for its next opener; a shared session has another holder."""
    others = any(holder.worker.id not in evidence for holder in session.holders)
    return others or session.source not in policy.dies_with_owner
