"""What became of a session's end-of-session work, and why does it owe none?"""

from __future__ import annotations

from collections.abc import Iterator

from sexton.core.session import Session, State
from sexton.finalizers.model import Finalization, FinalizationState, Wanted
from sexton.finalizers.policy import why
from sexton.keeper.keeper_context import Estate

MOST = 100
LONGEST = 200


def owed(estate: Estate, session: Session) -> Iterator[tuple[str, str, str]]:
    """For each finalizer, how its job for a session stands or why there is none.

    Of an open session also what the next end will queue.
    """
    told = set()
    wanted = Wanted(home=session.home, session=session.id)
    for work in estate.ledger.finalizing.page(wanted, None, MOST):  # the newest covers the most
        is_newest = work.finalizer not in told and not session.is_open
        if is_newest or work.state is not FinalizationState.DONE:
            yield work.finalizer, work.state, _standing(estate.content.job(work))
        told.add(work.finalizer)
    for due in estate.ledger.dues.of([session.ref]):
        if due.state is State.OPEN:
            yield due.finalizer, "owed at its end" if due.owes else "nothing owed", why(due)
        elif due.finalizer not in told:
            words = f"it ended before that: see 'sexton finalizers backfill {due.finalizer}'"
            yield due.finalizer, "nothing owed", words if due.owes else why(due)


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
