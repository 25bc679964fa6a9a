"""How is written down what a keeper would have done in a home that it only observes?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import compress

from sexton.core.plan import Action, Outcome, ReapSession, Result
from sexton.core.schedule import Schedule
from sexton.keeper.keeper_context import Estate
from sexton.liveness.policy import SILENT
from sexton.rules.rulebook import bounded
from sexton.store.journal import Entry


def recorded(estate: Estate, batch: list[Action], receipt: str, why: str) -> Iterator[Outcome]:
    """Write down what would have been done, each once; there may be very many."""
    now = estate.clock.now()
    reaps = [each for each in batch if isinstance(each, ReapSession)]
    fresh = set(compress(map(id, reaps), estate.ledger.samples.record(*reaps, now=now)))
    told = [each for each in batch if not isinstance(each, ReapSession) or id(each) in fresh]
    entries = [entry_of(estate, each, receipt, Result.RECORDED) for each in told]
    estate.ledger.journal.write(entries, now)
    _settle(estate, batch)
    for each in batch:
        detail = f"{each.reason.text}; {why}"
        yield Outcome(action=each, result=Result.RECORDED, detail=detail)


def _settle(estate: Estate, batch: list[Action]) -> None:
    """Nothing is due of what was recorded until the session changes.

    But whoever was to be reset may still be taken for dead later, if it stays silent.
    """
    liveness = estate.rules(None).rules.liveness
    planned = []
    for action in batch:
        if isinstance(action, ReapSession) and action.reason.code != SILENT:
            continue  # it was not due, but found
        for session in estate.ledger.index.find(action.seen.home, action.seen.id):
            told = isinstance(action, ReapSession)
            later = Schedule(0) if told else bounded(Schedule(0), session, liveness)
            planned.append((session, later))
    estate.ledger.index.reschedule(planned)


def entry_of(estate: Estate, action: Action, receipt: str, result: Result) -> Entry:
    """What the journal says of an action."""
    return Entry(
        actor=estate.actor,
        receipt=receipt,
        home=action.seen.home,
        session=action.seen.id,
        action=action.kind,
        result=result,
        reason=action.reason,
    )
