"""What would have been done to a home that is only observed, and was it right?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import compress

from sexton.core.plan import Action, Outcome, ReapSession, Result
from sexton.core.schedule import Schedule
from sexton.homes.home_ports import HomeRecord
from sexton.keeper.keeper_context import Estate
from sexton.liveness.model import ShadowCount
from sexton.liveness.policy import SILENT
from sexton.rules.rulebook import bounded
from sexton.store.journal import Entry
from sexton.store.ledger import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Shadow:
    """The reaps that were only recorded for a home, and since when."""

    count: ShadowCount
    since: datetime | None


def shadow_of(ledger: Ledger, home: HomeRecord) -> Shadow | None:
    """What was recorded for a home; None for one in which everything was carried out."""
    for count in ledger.samples.shadows():
        if count.home == home.name:
            return Shadow(count=count, since=ledger.samples.first_shadow(home.name))
    none = ShadowCount(home=home.name, recorded=0, contradicted=0)
    return None if home.act else Shadow(count=none, since=None)


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
