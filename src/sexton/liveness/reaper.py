"""Who has died, and what did they leave behind?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sexton.core.plan import Outcome, ReapSession, Reason, Result
from sexton.core.session import Session
from sexton.keeper.keeper_context import Estate
from sexton.keeper.preconditions import as_seen
from sexton.liveness.evidence import Evidence, Verdict
from sexton.liveness.mass_death import SHARE, Doubt, doubt
from sexton.liveness.model import Left, Worker
from sexton.liveness.policy import LivenessPolicy, death_reason, kept_proof, orphan_reason
from sexton.liveness.standing import open_sessions
from sexton.sessions.family import depths


@dataclass(frozen=True, slots=True, kw_only=True)
class Deaths:
    """The dead with their evidence, the sessions they hold, and which of those die with them.

    Children come first. `held` are sessions, by row, whose owners' death is doubted for now.
    """

    dead: tuple[tuple[Worker, Evidence], ...] = ()
    left: tuple[Left, ...] = ()
    reaps: tuple[ReapSession, ...] = ()
    held: Mapping[int, Reason] = field(default_factory=dict)
    doubt: Doubt = field(default_factory=Doubt)


def find_deaths(estate: Estate, policy: LivenessPolicy) -> Deaths:
    """Judge every worker of the ledger; costs what there are processes, not sessions."""
    workers = {worker.id: worker for worker in estate.ledger.reaping.suspects()}
    evidence = estate.evidence(workers.values())
    dead = {id for id, proof in evidence.items() if proof.verdict is Verdict.DEAD}
    left = children_first(estate.ledger.reaping.left_by(*sorted(dead)))
    unproven = frozenset(id for id in dead if not evidence[id].kernel)
    lost = _lost(left, dead, unproven)
    now = doubt(
        estate.doubt,
        unproven,
        _held_at_all(estate, lost, workers.keys() - dead),
        estate.look(),
        policy,
        lost=len(lost),
    )
    doubted = now.doubted
    return Deaths(
        dead=tuple((workers[id], evidence[id]) for id in workers if id in dead - doubted),
        left=tuple(left),
        reaps=tuple(_reaps(left, workers, evidence, policy)),
        held={each.seen.ref: now.reason for each in left if not doubted.isdisjoint(each.holders)},
        doubt=now,
    )


def _reaps(
    left: Iterable[Left],
    workers: Mapping[str, Worker],
    evidence: Mapping[str, Evidence],
    policy: LivenessPolicy,
) -> Iterator[ReapSession]:
    """Decided once for all sessions of a source with the same holders.

    The beats are those that were judged, so whoever has beaten since is not taken for dead.
    """
    reasons: dict[tuple[str, tuple[str, ...]], Reason | None] = {}
    for each in left:
        alike = each.source, each.holders
        if alike not in reasons:
            proofs = [evidence.get(id, _NOTHING) for id in each.holders]
            reasons[alike] = death_reason(each.source, proofs, policy)
        reason = reasons[alike]
        if reason is not None:
            beats = tuple((id, workers[id].beat) for id in each.holders)
            yield ReapSession(seen=each.seen, reason=reason, dead=beats)


_NOTHING = Evidence(verdict=Verdict.UNKNOWN)
"""Of whoever became a holder while the workers were judged."""


def _lost(left: Iterable[Left], dead: set[str], unproven: frozenset[str]) -> frozenset[int]:
    """The sessions that would be without a living holder, and would live but for a silence."""
    return frozenset(
        each.seen.ref
        for each in left
        if dead.issuperset(each.holders) and not unproven.isdisjoint(each.holders)
    )


def _held_at_all(estate: Estate, lost: frozenset[int], living: Iterable[str]) -> int:
    """How many sessions are held, lost ones included; counted until they make no mass of those."""
    held = set(lost)
    for worker in living:
        if len(lost) <= SHARE * len(held):
            break
        held |= {each.seen.ref for each in estate.ledger.reaping.left_by(worker)}
    return len(held)


def bury(estate: Estate, deaths: Deaths) -> None:
    """Record the deaths, and free the sessions that live on without the dead."""
    dead = frozenset(worker.id for worker, _ in deaths.dead)
    policy = estate.rules(None).rules.liveness
    # Declared first: a keeper that stops in between leaves dead holders that the next one finds.
    estate.ledger.reaping.declare(
        [(worker, kept_proof(proof)) for worker, proof in deaths.dead],
        estate.clock.now(),
    )
    estate.ledger.reaping.release(
        [
            (each.seen.ref, worker)
            for each in deaths.left
            if not dead.issuperset(each.holders) or each.source not in policy.dies_with_owner
            for worker in each.holders
            if worker in dead
        ]
    )


def children_first(left: Sequence[Left]) -> list[Left]:
    """The sessions in an order in which no parent comes before its child."""
    below = depths({each.seen.id: each.parent for each in left})
    return sorted(left, key=lambda each: -below[each.seen.id])


class LastAlive:
    """When each worker was last seen not to be dead, on the observer's own clock."""

    def __init__(self) -> None:
        self._at: dict[str, float] = {}

    def saw(self, evidence: Mapping[str, Evidence], now: float) -> None:
        """Remember a look; whoever is not in it any more is forgotten."""
        alive = {id: now for id, proof in evidence.items() if proof.verdict is not Verdict.DEAD}
        self._at = {id: at for id, at in self._at.items() if id in evidence} | alive

    def latencies(self, outcomes: Iterable[Outcome], now: float) -> tuple[float, ...]:
        """For each session that was reaped, how many seconds ago its last holder was seen alive.

        Of one whose holders had died before anybody looked, nothing is known.
        """
        reaps = (
            each.action
            for each in outcomes
            if each.result is Result.DONE and isinstance(each.action, ReapSession)
        )
        seen = ([self._at[id] for id, _ in reap.dead if id in self._at] for reap in reaps)
        return tuple(now - max(times) for times in seen if times)


def orphans(estate: Estate, home: str | None = None) -> list[ReapSession]:
    """What is to be ended in every home or one, children first. Changes nothing.

    What is only suspect is proposed to whoever looks at the plan. In a home that is only
    observed, what was recorded already is not said again.
    """
    wanted = [name for name in estate.records if home in (None, name)]
    return [reap for name in wanted for reap in _of_home(estate, name)]


def _of_home(estate: Estate, home: str) -> Iterator[ReapSession]:
    reasons = {
        id: reason
        for id, proof in estate.owners(home).items()
        if (reason := orphan_reason(proof, attended=not estate.unattended)) is not None
    }
    if not reasons:
        return
    told = estate.ledger.samples.recorded(home) if estate.is_observed(home) else ()
    found = {
        session.id: session
        for session in open_sessions(estate.ledger, [home])
        if session.id in reasons and not session.holders and not session.is_spared
    }
    for session in _children_first(found):
        if (session.id, session.active_at) not in told:
            yield ReapSession(seen=as_seen(session), reason=reasons[session.id])


def _children_first(found: Mapping[str, Session]) -> list[Session]:
    below = depths({id: session.parent for id, session in found.items()})
    return sorted(found.values(), key=lambda session: -below[session.id])
