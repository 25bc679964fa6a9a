"""Where is something counted, and how does that stand?"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from sexton.spending.budgets import with_own
from sexton.spending.model import Act, Bound, Meter, Scope, Standing, Unit, Who
from sexton.store import rows
from sexton.store.database import Transaction
from sexton.store.rows import maybe_moment, micros

_DAY = 86_400_000_000
_COLUMNS = (Unit.INPUT, Unit.OUTPUT, Unit.CACHED, Unit.REASONING, Unit.USD, Unit.MESSAGES)


def with_caps(tx: Transaction, who: Who, bounds: Sequence[Bound], now: datetime) -> Sequence[Bound]:
    """The bounds with a person's own limits in place of those of the rules."""
    return _limited(tx.all("caps_of", **_subjects(who)), bounds, now)


def with_fenced_caps(
    tx: Transaction, who: Who, epoch: int | None, bounds: Sequence[Bound], now: datetime
) -> Sequence[Bound] | None:
    """The same; with an epoch None if the session has ended or the fence fell."""
    if epoch is None:
        return with_caps(tx, who, bounds, now)
    caps = tx.all("fenced_caps", **_subjects(who), ref=who.session, epoch=epoch)
    return _limited([row for row in caps if row[0]], bounds, now) if caps else None


def _subjects(who: Who) -> dict[str, str]:
    return {"session": str(who.session), "root": str(who.root), "source": who.source}


def _limited(caps: Sequence[rows.Row], bounds: Sequence[Bound], now: datetime) -> Sequence[Bound]:
    return with_own(bounds, [_cap(row) for row in caps], now) if caps else bounds


def _cap(row: rows.Row) -> tuple[Meter, int, Act]:
    return Meter(Scope(row[0]), row[1], Unit(row[2]), row[3]), row[4], Act(row[5])


def open_counters(tx: Transaction, bounds: Sequence[Bound], now: datetime) -> list[int]:
    """The counters of meters, locked by one statement in the order of the bounds.

    When a counter was last used is written down once a day only.
    """
    names = [tuple(_named(bound.meter).values()) for bound in bounds]
    listed, at = json.dumps(names), micros(now)
    rows = tx.all("lock_counters", rows=listed, fresh=at - _DAY) if names else []
    if len(rows) < len(names):
        rows = tx.all("open_counters", rows=listed, now=at)
    refs: dict[tuple[str, ...], int] = {tuple(row[:4]): row[4] for row in rows}
    return [refs[name] for name in names]


def look_at(tx: Transaction, bound: Bound) -> Standing:
    """How one meter stands, whether anything was counted in it or not."""
    span = {"since": bound.since, "ahead": bound.ahead}
    row = tx.one("find_standing", **_named(bound.meter), **span)
    *sums, stopped, counter = row or (0, 0, 0, None, 0, None, 0)
    found = _standing(bound, counter, sums, _uses(tx))
    return found._replace(stopped_at=maybe_moment(stopped))


def standings_of(tx: Transaction, places: Sequence[tuple[int, Bound]]) -> list[Standing]:
    """How meters that are counted stand; what was spent before anybody did so is kept from now."""
    spans = [(counter, bound.since, bound.ahead) for counter, bound in places]
    sums = tx.all("sum_slices", rows=json.dumps(spans)) if spans else []
    uses, standings = _uses(tx), []
    for (counter, bound), row in zip(places, sums, strict=True):
        standing = _standing(bound, counter, row, uses)
        if standing.spent != row[0] and bound.meter.unit is not Unit.MESSAGES:
            place = {"counter": counter, "start": bound.start}
            tx.all("settle_slice", **place, amount=0, used=standing.spent)
        standings.append(standing)
    return standings


def _standing(
    bound: Bound, counter: int, sums: Sequence[Any], uses: Callable[[str], rows.Row | None]
) -> Standing:
    spent, reserved, added, oldest, slices = sums
    forever = bound.meter.scope is Scope.SESSION and not bound.meter.period
    is_message = bound.meter.unit is Unit.MESSAGES  # a session counts its messages by itself
    if forever and (not slices or is_message):
        spent = _spent_before(bound.meter, uses(bound.meter.subject))
    return Standing(counter, bound, spent, reserved, added, oldest)


def _uses(tx: Transaction) -> Callable[[str], rows.Row | None]:
    """What a session has used, asked for once."""
    return cache(lambda session: tx.one("used_by_session", ref=int(session)))


def _spent_before(meter: Meter, row: rows.Row | None) -> int:
    """What a session had spent before anybody set it a limit."""
    if row is None:
        return 0
    known: dict[Unit, int] = dict(zip(_COLUMNS, row, strict=True))
    return sum(row[:4]) if meter.unit is Unit.TOKENS else known.get(meter.unit, 0)


def _named(meter: Meter) -> dict[str, str]:
    return {
        "scope": meter.scope,
        "subject": meter.subject,
        "unit": meter.unit,
        "period": meter.period,
    }
