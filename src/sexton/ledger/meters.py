"""Where is something counted, and how does that stand?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sexton.ledger import rows
from sexton.ledger.database import Transaction
from sexton.ledger.rows import maybe_moment, micros
from sexton.model.spend import Act, Bound, Meter, Scope, Unit, Who
from sexton.policies.budgets import with_own
from sexton.ports.spending import Standing

_DAY = 86_400_000_000
_COLUMNS = (Unit.INPUT, Unit.OUTPUT, Unit.CACHED, Unit.REASONING, Unit.USD, Unit.MESSAGES)


def with_caps(tx: Transaction, who: Who, bounds: Sequence[Bound], now: datetime) -> Sequence[Bound]:
    """The bounds with a person's own limits in place of those of the rules."""
    return _limited(tx.all("caps_of", **_subjects(who)), bounds, now)


def with_fenced_caps(
    tx: Transaction, who: Who, epoch: int, bounds: Sequence[Bound], now: datetime
) -> Sequence[Bound] | None:
    """The same; None if the session has ended or the fence fell."""
    caps = tx.all("fenced_caps", **_subjects(who), ref=who.session, epoch=epoch)
    return _limited([row for row in caps if row[0]], bounds, now) if caps else None


def _subjects(who: Who) -> dict[str, str]:
    return {"session": str(who.session), "root": str(who.root), "source": who.source}


def _limited(caps: Sequence[rows.Row], bounds: Sequence[Bound], now: datetime) -> Sequence[Bound]:
    return with_own(bounds, [_cap(row) for row in caps], now) if caps else bounds


def _cap(row: rows.Row) -> tuple[Meter, int, Act]:
    return Meter(Scope(row[0]), row[1], Unit(row[2]), row[3]), row[4], Act(row[5])


def open_counter(tx: Transaction, bound: Bound, now: datetime) -> int:
    """The counter of a meter, locked; when it was last used is written down once a day only."""
    name, at = _named(bound.meter), micros(now)
    row = tx.one("lock_counter", **name)
    if row is None or row[1] < at - _DAY:
        row = tx.one("open_counter", **name, now=at)
    assert row is not None
    counter: int = row[0]
    return counter


def look_at(tx: Transaction, bound: Bound) -> Standing:
    """How one meter stands, whether anything was counted in it or not."""
    span = {"since": bound.since, "ahead": bound.ahead}
    row = tx.one("find_standing", **_named(bound.meter), **span)
    *sums, stopped, counter = row or (0, 0, 0, None, 0, None, 0)
    found = _standing(tx, bound, counter, sums, store=False)
    return found._replace(stopped_at=maybe_moment(stopped))


def standing_of(tx: Transaction, bound: Bound, counter: int) -> Standing:
    """How a meter that is counted stands; what was spent before anybody did so is kept from now."""
    row = tx.one("sum_slices", counter=counter, since=bound.since, ahead=bound.ahead)
    assert row is not None
    return _standing(tx, bound, counter, row, store=True)


def _standing(
    tx: Transaction, bound: Bound, counter: int, sums: Sequence[Any], *, store: bool
) -> Standing:
    spent, reserved, added, oldest, slices = sums
    forever = bound.meter.scope is Scope.SESSION and not bound.meter.period
    is_message = bound.meter.unit is Unit.MESSAGES  # a session counts its messages by itself
    if forever and (not slices or is_message):
        spent = _spent_before(tx, bound.meter)
        if spent and store and not is_message:
            place = {"counter": counter, "start": bound.start}
            tx.all("settle_slice", **place, amount=0, used=spent)
    return Standing(counter, bound, spent, reserved, added, oldest)


def _spent_before(tx: Transaction, meter: Meter) -> int:
    """What a session had spent before anybody set it a limit."""
    row = tx.one("used_by_session", ref=int(meter.subject))
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
