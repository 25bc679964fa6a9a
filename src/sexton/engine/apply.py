"""How is a plan carried out?"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from itertools import groupby, islice
from typing import assert_never

from sexton.engine.estate import Estate
from sexton.engine.removing.files import file_chunks, put_files_away
from sexton.engine.removing.load import chunks
from sexton.engine.removing.means import Means
from sexton.engine.removing.remove import put_away
from sexton.errors import HomeError, HomeObserved, PlanForeign
from sexton.model.plan import (
    Action,
    ArchiveSession,
    EndSession,
    Outcome,
    Plan,
    ReapSession,
    RemoveFiles,
    Removing,
    Result,
    Seen,
    TrashSession,
    WarnSession,
)
from sexton.model.removal import AWAY
from sexton.model.schedule import Schedule
from sexton.model.session import NATIVE, Session
from sexton.policies.rulebook import bounded
from sexton.ports import Entry, Home

REAPS_TOGETHER = 500
_REAP, _REMOVAL, _FILES = "reap", "removal", "files"


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

    def allowed() -> bool:
        return not plan.policies or plan.policies == estate.rules(None).digest

    for kind, run in groupby(plan.actions, key=_run):
        if kind[0] == _REMOVAL and estate.removing is not None and _lets_go(estate, kind[1]):
            leaving = (each for each in run if isinstance(each, TrashSession | ArchiveSession))
            yield from _remove(estate, estate.removing, leaving, receipt, allowed)
            continue
        for batch in _batches(kind[0], run):
            if allowed():
                yield from _carry_out(estate, batch, receipt)
            else:
                yield from map(_outdated, batch)


def _lets_go(estate: Estate, home: str) -> bool:
    """Whether sessions of a home may be removed from here."""
    means = estate.removing
    return means is not None and means.keeps_records(home) and not estate.is_observed(home)


def _outdated(action: Action) -> Outcome:
    return Outcome(action=action, result=Result.SKIPPED, detail="the policies have changed")


def _batches(kind: str, run: Iterator[Action]) -> Iterator[list[Action]]:
    """Actions one by one, but what shares a commit or a file of the vault together."""
    if kind == _FILES:
        yield from map(list, file_chunks(each for each in run if isinstance(each, RemoveFiles)))
        return
    together = REAPS_TOGETHER if kind == _REAP else 1
    while batch := list(islice(run, together)):
        yield batch


def _run(action: Action) -> tuple[str, str]:
    match action:
        case ReapSession(seen=seen):
            return _REAP, seen.home
        case TrashSession(seen=seen) | ArchiveSession(seen=seen):
            return _REMOVAL, seen.home
        case RemoveFiles(seen=seen):
            return _FILES, seen.home
        case _:
            return "", ""


def _carry_out(estate: Estate, batch: list[Action], receipt: str) -> Iterator[Outcome]:
    try:
        if isinstance(batch[0], RemoveFiles):
            files = [each for each in batch if isinstance(each, RemoveFiles)]
            yield from _remove_files(estate, files, receipt)
            return
        results = _act(estate, batch, receipt)
    except HomeObserved as observed:
        for action in batch:
            yield _record(estate, action, receipt, str(observed))
        return
    except HomeError as trouble:  # one that can not be changed now keeps nobody else waiting
        for action in batch:
            yield Outcome(action=action, result=Result.SKIPPED, detail=str(trouble))
        return
    for action, done in zip(batch, results, strict=True):
        if done:
            yield Outcome(action=action, result=Result.DONE, detail=action.reason.text)
        else:
            moved = _what_moved(estate, action)
            yield Outcome(action=action, result=Result.SKIPPED, detail=moved)


def _remove(
    estate: Estate,
    means: Means,
    leaving: Iterator[Removing],
    receipt: str,
    allowed: Callable[[], bool],
) -> Iterator[Outcome]:
    """Each chunk is as big as it may be right now."""
    for chunk, done in put_away(means, chunks(means, leaving), receipt, allowed):
        for action in chunk:
            if done is None:
                yield _outdated(action)
            elif action.seen.ref in done.gone:
                yield Outcome(action=action, result=Result.DONE, detail=action.reason.text)
            else:
                why = done.refused.get(action.seen.ref) or _what_keeps(estate, action.seen)
                yield Outcome(action=action, result=Result.SKIPPED, detail=why)


def _remove_files(estate: Estate, batch: list[RemoveFiles], receipt: str) -> Iterator[Outcome]:
    """Files of an observed home go at a person's word only."""
    means, home = estate.removing, batch[0].seen.home
    if means is None or home not in means.files:
        raise HomeObserved(f"the files of the home '{home}' can not be removed from here")
    if estate.is_observed(home):
        raise HomeObserved(f"the home '{home}' is only observed")
    kept = put_files_away(means, batch, receipt)
    for action in batch:
        why = kept.get(action.seen.id)
        result = Result.DONE if why is None else Result.SKIPPED
        yield Outcome(action=action, result=result, detail=why or action.reason.text)


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
            done = _home(estate, seen).reap(list(zip(reaps, entries, strict=True)), now)
            if seen.home != NATIVE:
                _let_go_of(estate, [each for each, ended in zip(reaps, done, strict=True) if ended])
            return done
        case TrashSession(seen=seen) | ArchiveSession(seen=seen) | RemoveFiles(seen=seen):
            raise HomeObserved(f"the home '{seen.home}' does not let its sessions be removed")
        case never:
            assert_never(never)


def _let_go_of(estate: Estate, reaped: list[ReapSession]) -> None:
    """Take the dead off sessions that ended elsewhere: the ledger has not ended them itself."""
    held = [(each.seen.ref, worker) for each in reaped for worker, _ in each.dead]
    estate.ledger.reaping.release(held)


def _home(estate: Estate, seen: Seen) -> Home:
    home = estate.homes.get(seen.home)
    if home is None:
        raise HomeObserved(f"the home '{seen.home}' is not attached here")
    if estate.is_observed(seen.home):
        raise HomeObserved(f"the home '{seen.home}' is only observed")
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


def _what_moved(estate: Estate, action: Action) -> str:
    seen = action.seen
    found = estate.ledger.index.find(seen.home, seen.id)
    if not found:
        return "it is gone"
    session = found[0]
    if not session.is_open:
        return f"it has ended already: {session.end_reason}"
    if isinstance(action, ReapSession) and seen.home != NATIVE:
        return _what_changed(session, seen) or "somebody may have it again"
    return _what_changed(session, seen) or "it was done already"


def _what_keeps(estate: Estate, seen: Seen) -> str:
    """Why a session that was to be removed is not one that could be."""
    found = estate.ledger.index.find(seen.home, seen.id)
    if not found:
        return "it is gone"
    session = found[0]
    if session.state in AWAY:
        return f"it is {session.state} already"
    if session.is_open:
        return "it is open again"
    return _what_changed(session, seen) or "what belongs to it has changed meanwhile"


def _what_changed(session: Session, seen: Seen) -> str | None:
    if session.epoch != seen.epoch:
        return "it was taken over meanwhile"
    if session.pinned != seen.pinned:
        return "it was pinned meanwhile" if session.pinned else "its pin was taken off meanwhile"
    if (session.message_count, session.turn_count) != (seen.message_count, seen.turn_count):
        return "it was active meanwhile"
    return None


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
