"""How do the open sessions of a home stand: live, waiting, leaked or unproven?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sexton.engine.estate import Estate
from sexton.engine.plan import survey
from sexton.model.evidence import Evidence, Verdict
from sexton.model.plan import ReapSession
from sexton.model.session import NATIVE, Session
from sexton.policies.liveness import LivenessPolicy, reap_reason
from sexton.ports import HomeRecord, Sample

MOST = 10_000
"""So many open sessions of an observed home are asked one by one; the others stay unproven."""


class Standing(StrEnum):
    """What is known of an open session; leaked and unproven are never the same."""

    LIVE = "live"  # a living process holds it
    WAITING = "waiting"  # nobody holds it: a conversation that waits for its next message
    LEAKED = "leaked"  # all its holders are dead, or it is to be reaped for another reason
    UNPROVEN = "unproven"  # nothing shows whether anybody still holds it


@dataclass(frozen=True, slots=True)
class _Held:
    """The sessions that somebody holds, and what is known of every holder."""

    sessions: Mapping[int, Session]
    evidence: Mapping[str, Evidence]


def samples(estate: Estate, homes: Iterable[HomeRecord]) -> list[Sample]:
    """How the open sessions of each home stand now.

    Costs what is open and what is held; ended sessions cost nothing, however many there are.
    """
    held = _held(estate)
    return [_sample(estate, home, held) for home in homes]


def _held(estate: Estate) -> _Held:
    reaping = estate.ledger.reaping
    sessions = {
        session.ref: session
        for worker in reaping.suspects()
        for session in reaping.sessions_of(worker.id)
    }
    holders = {
        holder.worker.id: holder.worker
        for session in sessions.values()
        for holder in session.holders
    }
    return _Held(sessions, estate.evidence(holders.values()))


def _sample(estate: Estate, home: HomeRecord, held: _Held) -> Sample:
    ids = estate.ledger.homes.ids(home, open_only=True)
    found = Counter(
        _by_holders(session, held.evidence, estate.doubt.doubted)
        for session in held.sessions.values()
        if session.home == home.name
    )
    ownerless = max(0, len(ids) - found.total())
    leaked = min(ownerless, _overdue(estate, home, ids) if ownerless else 0)
    found[Standing.LEAKED] += leaked
    rest = Standing.WAITING if home.name == NATIVE else Standing.UNPROVEN
    found[rest] += ownerless - leaked
    return Sample(
        home=home.name,
        at=estate.clock.now(),
        open=found.total(),
        live=found[Standing.LIVE],
        waiting=found[Standing.WAITING],
        leaked=found[Standing.LEAKED],
        unproven=found[Standing.UNPROVEN],
    )


def _by_holders(
    session: Session, evidence: Mapping[str, Evidence], doubted: Container[str]
) -> Standing:
    ids = [holder.worker.id for holder in session.holders]
    verdicts = {Verdict.UNKNOWN if id in doubted else evidence[id].verdict for id in ids}
    if Verdict.LIVE in verdicts:
        return Standing.LIVE
    return Standing.LEAKED if verdicts == {Verdict.DEAD} else Standing.UNPROVEN


def _overdue(estate: Estate, home: HomeRecord, ids: Sequence[str]) -> int:
    """How many sessions that nobody holds have been silent beyond the bound of their source."""
    policy = estate.rules(None).rules.liveness
    if not policy.inactivity_bound:
        return 0
    if home.name == NATIVE:
        actions = survey(estate, NATIVE).plan.actions
        return sum(isinstance(each, ReapSession) and not each.dead for each in actions)
    # In an observed home a session is due only once, so that the plan does not show it again.
    asked = (each for id in ids[:MOST] for each in estate.ledger.index.find(home.name, id))
    return sum(_is_overdue(each, policy, estate.clock.now()) for each in asked)


def _is_overdue(session: Session, policy: LivenessPolicy, now: datetime) -> bool:
    ownerless = session.is_open and not session.holders
    return ownerless and reap_reason(session, {}, policy, now) is not None
