"""What became of a session's end-of-session work, and why does it owe none?"""

from __future__ import annotations

from collections.abc import Iterator

from sexton.engine.estate import Estate
from sexton.model.finalization import Finalization, FinalizationState
from sexton.model.session import Session
from sexton.policies.finalizing import OWES, why
from sexton.ports.finalizing import Wanted

MOST = 100
LONGEST = 200


def owed(estate: Estate, session: Session) -> Iterator[tuple[str, str, str]]:
    """For each finalizer, how its work for an ended session stands, and what is behind that."""
    told = set()
    wanted = Wanted(home=session.home, session=session.id)
    for work in estate.ledger.finalizing.page(wanted, None, MOST):  # the newest covers the most
        if work.finalizer not in told or work.state is not FinalizationState.DONE:
            yield work.finalizer, work.state, _standing(estate.content.job(work))
        told.add(work.finalizer)
    for rule in estate.rules(None).rules.finalizers:
        if rule.name not in told:
            reason = why(session, rule)
            words = f"it ended before that: see 'sexton finalizers backfill {rule.name}'"
            yield rule.name, "nothing owed", words if reason.code == OWES else reason.text


def _standing(work: Finalization) -> str:
    words = [f"messages {work.since + 1} to {work.through}"]
    if work.state is FinalizationState.PENDING and work.last_error:
        words.append(f"tried again from {work.not_before:%Y-%m-%d %H:%M:%S} UTC on")
    if work.state is FinalizationState.RUNNING:
        words.append(f"in the hands of {work.worker}")
    if work.attempts > 1:
        words.append(f"{work.attempts} tries")
    words += [each[:LONGEST] for each in (work.last_error, work.note) if each]
    return "; ".join(words)
