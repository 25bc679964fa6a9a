"""How is a plan carried out?"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from typing import assert_never

from sexton.engine.estate import Estate
from sexton.errors import HomeObserved, PlanForeign
from sexton.model.plan import (
    Action,
    EndSession,
    Outcome,
    Plan,
    ReapSession,
    Result,
    Seen,
    WarnSession,
)
from sexton.model.schedule import Schedule
from sexton.policies.rulebook import bounded
from sexton.ports import Entry, Home

REAPS_TOGETHER = 500


def new_receipt() -> str:
    """The name under which one apply can be found in the journal, and undone."""
    return uuid.uuid4().hex[:12]


def apply(estate: Estate, plan: Plan, receipt: str) -> Iterator[Outcome]:
    """Carry out a plan action by action; stopping between two leaves a valid state.

    Each action checks in its own transaction that the session still is as it was seen, so a
    stale plan does no harm and two keepers may apply the same one.
    """
    if plan.ledger != estate.ledger.id:
        raise PlanForeign(f"the plan was made for ledger {plan.ledger}, this is {estate.ledger.id}")
    for batch in _batches(plan.actions):
        if plan.policies and plan.policies != estate.rules(None).digest:
            for action in batch:
                yield Outcome(
                    action=action, result=Result.SKIPPED, detail="the policies have changed"
                )
        else:
            yield from _carry_out(estate, batch, receipt)


def _batches(actions: Sequence[Action]) -> Iterator[list[Action]]:
    """Actions one by one, but a run of reaps in one home together: they share a commit."""
    batch: list[Action] = []
    for action in actions:
        joins = (
            batch
            and isinstance(action, ReapSession)
            and isinstance(batch[0], ReapSession)
            and action.seen.home == batch[0].seen.home
            and len(batch) < REAPS_TOGETHER
        )
        if batch and not joins:
            yield batch
            batch = []
        batch.append(action)
    if batch:
        yield batch


def _carry_out(estate: Estate, batch: list[Action], receipt: str) -> Iterator[Outcome]:
    try:
        results = _act(estate, batch, receipt)
    except HomeObserved as observed:
        for action in batch:
            yield _record(estate, action, receipt, str(observed))
        return
    for action, done in zip(batch, results, strict=True):
        if done:
            yield Outcome(action=action, result=Result.DONE, detail=action.reason.text)
        else:
            moved = _what_moved(estate, action.seen)
            yield Outcome(action=action, result=Result.SKIPPED, detail=moved)


def _act(estate: Estate, batch: list[Action], receipt: str) -> list[bool]:
    now = estate.clock.now()
    entries = [_entry(estate, action, receipt, Result.DONE) for action in batch]
    match batch[0]:
        case EndSession(seen=seen, reason=reason):
            return [_home(estate, seen).end(seen, reason, entries[0], now)]
        case WarnSession(seen=seen, limit=limit):
            return [estate.ledger.index.warn(seen, limit, entries[0], now)]
        case ReapSession(seen=seen):
            reaps = [each for each in batch if isinstance(each, ReapSession)]
            return _home(estate, seen).reap(list(zip(reaps, entries, strict=True)), now)
        case never:
            assert_never(never)


def _home(estate: Estate, seen: Seen) -> Home:
    home = estate.homes.get(seen.home)
    if home is None:
        raise HomeObserved(f"the home '{seen.home}' is not attached here")
    return home


def _record(estate: Estate, action: Action, receipt: str, why: str) -> Outcome:
    """Write down what would have been done, once: nothing is due until the session changes.

    But whoever was to be reset may still be taken for dead later, if it stays silent.
    """
    now = estate.clock.now()
    if not isinstance(action, ReapSession) or estate.ledger.samples.record(action, now):
        estate.ledger.journal.write([_entry(estate, action, receipt, Result.RECORDED)], now)
    found = estate.ledger.index.find(action.seen.home, action.seen.id)
    liveness = estate.rules(None).rules.liveness
    told = isinstance(action, ReapSession)
    estate.ledger.index.reschedule(
        [
            (session, Schedule(0) if told else bounded(Schedule(0), session, liveness))
            for session in found
        ]
    )
    return Outcome(action=action, result=Result.RECORDED, detail=f"{action.reason.text}; {why}")


def _what_moved(estate: Estate, seen: Seen) -> str:
    found = estate.ledger.index.find(seen.home, seen.id)
    if not found:
        return "it is gone"
    session = found[0]
    if not session.is_open:
        return f"it has ended already: {session.end_reason}"
    if session.epoch != seen.epoch:
        return "it was taken over meanwhile"
    if session.pinned != seen.pinned:
        return "it was pinned meanwhile" if session.pinned else "its pin was taken off meanwhile"
    if (session.message_count, session.turn_count) != (seen.message_count, seen.turn_count):
        return "it was active meanwhile"
    return "it was done already"


def _entry(estate: Estate, action: Action, receipt: str, result: Result) -> Entry:
    return Entry(
        actor=estate.actor,
        receipt=receipt,
        home=action.seen.home,
        session=action.seen.id,
        action=action.kind,
        result=result,
        reason=action.reason,
    )
