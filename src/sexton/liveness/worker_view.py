"""Which processes hold sessions, do they live, and what are they doing?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from sexton.core.session import Session
from sexton.keeper.keeper_context import Estate
from sexton.liveness.evidence import Evidence, Verdict
from sexton.liveness.model import Holder, Worker
from sexton.liveness.policy import stalled_for


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenWorker:
    """A worker, what is known of it, and what it is doing; `stalls` say for how long."""

    worker: Worker
    evidence: Evidence
    sessions: int
    busy: int
    stalls: tuple[timedelta, ...]


def look_at_workers(estate: Estate) -> Iterator[SeenWorker]:
    """Every worker that has not left, oldest first, and dead ones that still hold something."""
    workers = estate.ledger.reaping.suspects()
    evidence = estate.evidence(workers)
    policy, now = estate.rules(None).rules.liveness, estate.clock.now()
    held = _held(estate, workers)
    for worker in workers:
        holdings = held[worker.id]
        # No turn runs in a dead process.
        dead = evidence[worker.id].verdict is Verdict.DEAD
        turns = [] if dead else [each for each in holdings if each[1].busy_since is not None]
        stalls = (stalled_for(*turn, policy, now) for turn in turns)
        yield SeenWorker(
            worker=worker,
            evidence=evidence[worker.id],
            sessions=len(holdings),
            busy=len(turns),
            stalls=tuple(each for each in stalls if each is not None),
        )


def _held(estate: Estate, workers: Sequence[Worker]) -> Mapping[str, list[tuple[Session, Holder]]]:
    """What each worker holds, and how, by its id."""
    found: defaultdict[str, list[tuple[Session, Holder]]] = defaultdict(list)
    for session in estate.ledger.reaping.sessions_of(*(worker.id for worker in workers)):
        for holder in session.holders:
            found[holder.worker.id].append((session, holder))
    return found
