"""How is a plan carried out?"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterator
from datetime import datetime
from functools import partial
from itertools import groupby, islice, takewhile
from typing import NamedTuple

from sexton.core.plan import (
    Action,
    ArchiveSession,
    Outcome,
    Plan,
    ReapSession,
    RemoveFiles,
    Removing,
    Result,
    Tending,
    TrashSession,
    WarnSession,
)
from sexton.errors import HomeError, HomeObserved, PlanForeign
from sexton.keeper.carry_out import tend
from sexton.keeper.gates import Gates, look_again, skipped
from sexton.keeper.keeper_context import Estate
from sexton.keeper.moved import what_else, what_keeps, what_moved
from sexton.keeper.observe import observe_home
from sexton.keeper.recheck import Recheck
from sexton.liveness.shadow import recorded
from sexton.retention.file_retention import file_chunks, put_files_away
from sexton.retention.file_scan import Scan, orphans
from sexton.retention.removal_context import Means
from sexton.retention.remove import put_away
from sexton.retention.vault_contents import BACK_SINCE, brought_back, chunks

REAPS_TOGETHER = 500
OUTDATED = "the policies have changed"
_REAP, _REMOVAL, _FILES, _LEFT_OUT = "reap", "removal", "files", "left out"


class _Order(NamedTuple):
    """Under which name a plan is carried out, when it was made, and whether that was just now.

    With `scan` the files of each home are looked through once for all of it.
    """

    receipt: str
    planned_at: datetime
    just_made: bool
    gates: Gates
    scan: Scan | None


def new_receipt() -> str:
    """The name under which one apply can be found in the journal, and undone."""
    return uuid.uuid4().hex[:12]


def apply(
    estate: Estate,
    plan: Plan,
    receipt: str,
    *,
    observed: bool = False,
    just_made: bool = False,
) -> Iterator[Outcome]:
    """Carry out a plan action by action; stopping between two leaves a valid state.

    Each action checks in its own transaction that the session still is as it was seen, so a
    stale plan does no harm and two keepers may apply the same one. The policies decide each action
    again, unless the caller has `just_made` the plan itself. A home that is locked or can not be
    written is left as it is after one wait. Actions on homes that are only observed are left out
    unless a person allows them (`observed`).
    """
    if plan.ledger != estate.ledger.id:
        raise PlanForeign(f"the plan was made for ledger {plan.ledger}, this is {estate.ledger.id}")

    def allowed() -> bool:
        return not plan.policies or plan.policies == estate.rules(None).digest

    def goes_on(_: object) -> bool:
        return estate.removing is None or not estate.removing.stopping()

    leaves_out = estate.observed_homes() if not (observed or estate.unattended) else frozenset()
    scan = Scan(estate.removing) if estate.removing is not None else None
    order = _Order(receipt, plan.made_at, just_made, Gates(estate), scan)
    changed: set[str] = set()
    for outcome in _applied(estate, plan, order, leaves_out, allowed, goes_on):
        if outcome.result is Result.DONE:
            changed.add(outcome.action.seen.home)
        yield outcome
    look_again(estate, sorted(changed))


def _applied(
    estate: Estate,
    plan: Plan,
    order: _Order,
    leaves_out: Collection[str],
    allowed: Callable[[], bool],
    goes_on: Callable[[object], bool],
) -> Iterator[Outcome]:
    recheck = None if order.just_made else Recheck(estate)
    for kind, run in groupby(plan.actions, key=partial(_run, leaves_out)):
        if kind[0] == _LEFT_OUT:
            yield from map(_left_out, run)
        elif kind[0] == _REMOVAL and _lets_go(estate, kind[1]):
            assert estate.removing is not None
            leaving = (each for each in run if isinstance(each, TrashSession | ArchiveSession))
            shut = order.gates.why_shut(kind[1], rows=True)
            if shut is not None:
                yield from skipped(leaving, shut)
                continue
            yield from _remove(estate, estate.removing, leaving, order, allowed)
        else:
            batches = takewhile(goes_on, _batches(kind[0], run))
            yield from _tend(estate, batches, order, allowed, recheck)


def _tend(
    estate: Estate,
    batches: Iterator[list[Action]],
    order: _Order,
    allowed: Callable[[], bool],
    recheck: Recheck | None,
) -> Iterator[Outcome]:
    """Carry out batch by batch what the policies still ask for; without `recheck`, all of it."""
    for batch in batches:
        if not allowed():
            yield from skipped(batch, OUTDATED)
            continue
        going, refused = _rechecked(estate, batch, recheck)
        yield from refused
        if going:
            yield from _carry_out(estate, going, order)


def _rechecked(
    estate: Estate, batch: list[Action], recheck: Recheck | None
) -> tuple[list[Action], list[Outcome]]:
    """The actions that hold now, and what is told of the others."""
    going: list[Action] = []
    refused: list[Outcome] = []
    for action in batch:
        # A home that is not reached from here is not changed, and its owners cannot be asked.
        is_far = not isinstance(action, WarnSession) and action.seen.home not in estate.homes
        if recheck is None or is_far or not isinstance(action, Tending):
            going.append(action)
        elif isinstance(again := recheck(action), str):
            why = what_moved(estate, action) or again
            refused.append(Outcome(action=action, result=Result.SKIPPED, detail=why))
        else:
            going.append(again)
    return going, refused


def _lets_go(estate: Estate, home: str) -> bool:
    """Whether sessions of a home may be removed from here."""
    means = estate.removing
    return means is not None and means.keeps_records(home) and not estate.is_observed(home)


def _left_out(action: Action) -> Outcome:
    words = f"the home '{action.seen.home}' is only observed, and nobody allowed to change it"
    return Outcome(action=action, result=Result.OBSERVED, detail=words)


def _batches(kind: str, run: Iterator[Action]) -> Iterator[list[Action]]:
    """Actions one by one, but what shares a commit or a file of the vault together."""
    if kind == _FILES:
        yield from map(list, file_chunks(each for each in run if isinstance(each, RemoveFiles)))
        return
    together = REAPS_TOGETHER if kind == _REAP else 1
    while batch := list(islice(run, together)):
        yield batch


def _run(leaves_out: Collection[str], action: Action) -> tuple[str, str]:
    if action.seen.home in leaves_out:
        return _LEFT_OUT, ""
    match action:
        case ReapSession(seen=seen):
            return _REAP, seen.home
        case TrashSession(seen=seen) | ArchiveSession(seen=seen):
            return _REMOVAL, seen.home
        case RemoveFiles(seen=seen):
            return _FILES, seen.home
        case _:
            return "", ""


def _carry_out(estate: Estate, batch: list[Action], order: _Order) -> Iterator[Outcome]:
    home = batch[0].seen.home
    shut = order.gates.why_shut(home, files=isinstance(batch[0], RemoveFiles))
    if shut is not None:
        yield from skipped(batch, shut)
        return
    try:
        if isinstance(batch[0], RemoveFiles):
            files = [each for each in batch if isinstance(each, RemoveFiles)]
            yield from _remove_files(estate, files, order)
            return
        results = tend(estate, batch, order.receipt)
    except HomeObserved as observed:
        yield from recorded(estate, batch, order.receipt, str(observed))
        return
    except HomeError as trouble:  # one that can not be changed now keeps nobody else waiting
        yield from skipped(batch, order.gates.learn(home, trouble))
        return
    for action, done in zip(batch, results, strict=True):
        if done:
            yield Outcome(action=action, result=Result.DONE, detail=action.reason.text)
        else:
            moved = what_moved(estate, action) or what_else(action)
            yield Outcome(action=action, result=Result.SKIPPED, detail=moved)


def _remove(
    estate: Estate,
    means: Means,
    leaving: Iterator[Removing],
    order: _Order,
    allowed: Callable[[], bool],
) -> Iterator[Outcome]:
    """Each chunk is as big as it may be right now."""
    parts = chunks(means, leaving)
    for chunk, done in put_away(means, parts, order.receipt, allowed, order.planned_at):
        for action in chunk:
            if done is None:
                yield from skipped([action], OUTDATED)
            elif action.seen.ref in done.gone:
                yield Outcome(action=action, result=Result.DONE, detail=action.reason.text)
            else:
                why = done.refused.get(action.seen.ref) or what_keeps(estate, action.seen)
                yield Outcome(action=action, result=Result.SKIPPED, detail=why)


def _remove_files(estate: Estate, batch: list[RemoveFiles], order: _Order) -> Iterator[Outcome]:
    """Files of an observed home go at a person's word only."""
    means, home = estate.removing, batch[0].seen.home
    if means is None or home not in means.files:
        raise HomeObserved(f"the files of the home '{home}' can not be removed from here")
    if estate.is_observed(home):
        raise HomeObserved(f"the home '{home}' is only observed")
    if home in estate.records:  # what is known of a foreign home may be as old as the plan
        observe_home(estate, estate.homes[home], estate.records[home])
    back = brought_back(means, [each.seen for each in batch], order.planned_at)
    kept = dict.fromkeys(back, BACK_SINCE)
    kept |= {} if order.just_made else _claimed(estate, means, batch, order.scan or Scan(means))
    loose = [each for each in batch if each.seen.id not in kept]
    kept |= put_files_away(means, loose, order.receipt) if loose else {}
    for action in batch:
        why = kept.get(action.seen.id)
        result = Result.DONE if why is None else Result.SKIPPED
        yield Outcome(action=action, result=result, detail=why or action.reason.text)


def _claimed(estate: Estate, means: Means, batch: list[RemoveFiles], scan: Scan) -> dict[str, str]:
    """Files that the plan says are nobody's, and that belong to a session."""
    nobodys = [each.seen.id for each in batch if not each.seen.ref]
    if not nobodys:
        return {}
    free = {owner for owner, _ in orphans(estate, means, batch[0].seen.home, scan)}
    return {owner: "a session owns it now" for owner in nobodys if owner not in free}
