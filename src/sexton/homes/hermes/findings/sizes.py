"""Which conversations have grown as big as they may?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from sexton.core.record import replace
from sexton.core.session import Limit, Session
from sexton.homes.hermes.findings.finding import Finding, Level, Names, many
from sexton.resets.policy import ResetPolicy, limit_warning, reset_reason
from sexton.rules.rulebook import Rulebook

FULL = ("max_messages", "max_bytes")
EXAMPLES = 5


def size_findings(
    sessions: Iterable[Session], own: Rulebook, names: Names, now: datetime
) -> Iterator[Finding]:
    """The open conversations at the limit of their size, and those that come near it."""
    judged = [(each, own.reset_policy(each)) for each in sessions]
    full = [found for each, policy in judged if (found := _full(each, policy, now))]
    near = [found for each, policy in judged if (found := _near(each, policy, now))]
    if full:
        yield Finding(
            code="large",
            level=Level.COSTLY,
            words=f"{many(len(full), 'conversation has', 'conversations have')} grown to the limit "
            "of size",
            cost="every message pays for all of them again, until a reset",
            repair=names.sexton("apply"),
            count=len(full),
            details=tuple(full[:EXAMPLES]),
        )
    if near:
        yield Finding(
            code="growing",
            level=Level.HINT,
            words=f"{many(len(near), 'conversation comes', 'conversations come')} near the limit "
            "of size",
            cost="at the limit it begins anew; its people are warned once",
            repair="max_messages and max_bytes of the home in sexton.yaml say where the limit is",
            count=len(near),
            details=tuple(near[:EXAMPLES]),
        )


def _full(session: Session, policy: ResetPolicy, now: datetime) -> str | None:
    reason = reset_reason(session, policy, now)
    return f"{session.id}: {reason.text}" if reason and reason.code in FULL else None


def _near(session: Session, policy: ResetPolicy, now: datetime) -> str | None:
    warning = limit_warning(replace(session, warned=Limit.NONE), policy, now)
    return None if warning is None else f"{session.id}: {warning[1].text}"
