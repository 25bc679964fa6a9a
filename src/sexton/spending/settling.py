"""Stores and settles grants. A settlement may be repeated, and needs no row: it counts once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sexton.core.usage import Usage
from sexton.errors import LedgerBusy
from sexton.spending.meters import open_counters, standings_of
from sexton.spending.model import Bound, Freed, Granted, Hold, Unit
from sexton.store import rows
from sexton.store.database import Transaction
from sexton.store.rows import micros

NOTHING = Usage()


def insert_grant(tx: Transaction, grant: Granted, holds: Iterable[Hold]) -> None:
    """Store a grant in its slot; what an earlier one of the slot still holds is given back.

    A settlement may come first: a signal handler ends the turn in the middle of this, or two
    connections to PostgreSQL race. Then nobody would give back what the grant holds, so the whole
    transaction is refused.
    """
    values = {**_named(grant), "held": _stored(holds)}
    if tx.one("insert_grant", **values) is not None:
        return
    _vacate(tx, grant)
    if tx.one("insert_grant", **values) is None:
        raise LedgerBusy("the reservation was given back before it was stored")


def settle(
    tx: Transaction,
    grant: Granted | None,
    session: int,
    used: Mapping[Unit, int],
    usage: Usage,
) -> bool:
    """Count what was used in place of what is held; False if it was counted before.

    The order of locks is: the grant, the session, counters by name, slices by row.
    """
    if grant is None:
        add_usage(tx, session, usage)
        return True
    if grant.places != () and _settle_stored(tx, grant, session, used, usage):
        return True
    if tx.one("note_settled", **_named(grant)) is None:
        if not _vacate(tx, grant):
            # On PostgreSQL it may have been stored between the first statement and the second.
            return _settle_stored(tx, grant, session, used, usage)
        tx.all("note_settled", **_named(grant))
    _count_lost(tx, grant, session, used)
    add_usage(tx, session, usage)
    return True


def _settle_stored(
    tx: Transaction, grant: Granted, session: int, used: Mapping[Unit, int], usage: Usage
) -> bool:
    """Settle a grant that the ledger holds; False if it holds none that is not settled."""
    row = tx.one("settle_grant", slot=grant.name.slot, number=grant.name.number)
    if row is None:
        return False
    add_usage(tx, session, usage)
    holds = [(hold, used.get(Unit(hold.unit), 0)) for hold in held(row[0])]
    give_back(tx, holds, freed_at=row[1] or None)
    return True


def add_usage(tx: Transaction, session: int, usage: Usage) -> None:
    """Add to what a session has used."""
    if usage != NOTHING:
        _add_usage(tx, session, usage)


def give_back(tx: Transaction, holds: Sequence[tuple[Hold, int]], freed_at: int | None) -> None:
    """Put what was used in place of what was held; of what was freed nothing is held any more."""
    total: dict[tuple[int, int], tuple[int, int]] = {}
    for hold, used in holds:
        amount, before = total.get((hold.counter, hold.start), (0, 0))
        total[hold.counter, hold.start] = (amount + hold.amount, before + used)
    for (counter, start), (amount, used) in sorted(total.items()):
        if amount or used:
            given_back = amount if freed_at is None else 0
            place = {"counter": counter, "start": start}
            tx.all("settle_slice", **place, amount=given_back, used=used)


def freed(row: rows.Row) -> Freed:
    """What was held is the same in every meter of a unit."""
    amounts = {Unit(hold.unit): hold.amount for hold in held(row[0]) if hold.amount}
    return Freed(row[1], row[2], amounts)


def held(stored: str) -> list[Hold]:
    """What a stored grant holds."""
    return [Hold(*each) for each in json.loads(stored)]


def _count_lost(tx: Transaction, grant: Granted, session: int, used: Mapping[Unit, int]) -> None:
    """Count use whose grant is not in the ledger; the counters may be lost as well."""
    places = [(meter, start) for meter, start in grant.places or () if used.get(meter.unit)]
    if not places:
        return
    # Locks the session. It must not count the use yet: a counter that begins now begins with it.
    _add_usage(tx, session, NOTHING)
    bounds = [  # in the order of their names, as in every transaction
        Bound(meter=meter, budgets=(), start=start, since=start, ahead=start)
        for meter, start in places
    ]
    counters = open_counters(tx, bounds, grant.made_at)
    standings = standings_of(tx, list(zip(counters, bounds, strict=True)))
    holds = [
        (Hold(counter, bound.start, bound.meter.unit, 0), used[bound.meter.unit])
        for counter, bound, *_ in standings
    ]
    give_back(tx, holds, freed_at=None)


def _vacate(tx: Transaction, grant: Granted) -> bool:
    """Give back what an earlier grant of the same slot holds; False if there is none."""
    row = tx.one("vacate_slot", slot=grant.name.slot, number=grant.name.number)
    if row is None:
        return False
    give_back(tx, [(hold, 0) for hold in held(row[0])], freed_at=row[1])
    return True


def _add_usage(tx: Transaction, session: int, usage: Usage) -> None:
    tx.all(
        "add_usage",
        ref=session,
        input=usage.input_tokens,
        output=usage.output_tokens,
        cached=usage.cached_tokens,
        reasoning=usage.reasoning_tokens,
        cost=usage.cost_micros,
    )


def _named(grant: Granted) -> dict[str, Any]:
    return {
        "slot": grant.name.slot,
        "number": grant.name.number,
        "session": grant.session,
        "worker": grant.worker,
        "made_at": micros(grant.made_at),
    }


def _stored(holds: Iterable[Hold]) -> str:
    """What is held as JSON, of which nothing needs to be escaped."""
    each = (f'[{hold.counter},{hold.start},"{hold.unit}",{hold.amount}]' for hold in holds)
    return f"[{','.join(each)}]"
