"""Which open sessions of foreign homes have lost their owner, by what the homes prove?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sexton.core.plan import ReapSession
from sexton.core.session import Session
from sexton.keeper.keeper_context import Estate
from sexton.keeper.preconditions import as_seen
from sexton.liveness.open_sessions import open_sessions
from sexton.liveness.policy import orphan_reason
from sexton.sessions.family import depths


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
