"""What is spent: counted before it is, all or nothing, and settled once."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from sexton.core.usage import Usage
from sexton.errors import LedgerBusy
from sexton.sessions.store import root_of
from sexton.spending.budgets import fits, is_reached
from sexton.spending.meters import (
    look_at,
    open_counters,
    standings_of,
    with_caps,
    with_fenced_caps,
)
from sexton.spending.model import (
    Bound,
    Budget,
    Freed,
    Granted,
    Hold,
    Mark,
    Meter,
    Refused,
    Slot,
    Spend,
    Standing,
    Taken,
    Unit,
    Who,
)
from sexton.spending.settling import freed, give_back, held, insert_grant, settle
from sexton.store import rows
from sexton.store.database import Database, Transaction
from sexton.store.journal import Entry
from sexton.store.rows import micros

ATTEMPTS = 100
KEEP_SLICES = timedelta(days=35)
KEEP_COUNTERS = timedelta(days=400)
SETTLED = (
    Unit.TOKENS,
    Unit.INPUT,
    Unit.OUTPUT,
    Unit.CACHED,
    Unit.REASONING,
    Unit.USD,
)
"""What is known for certain only after a call."""
PASSED = (Unit.MESSAGES, Unit.WALL)
"""What is counted when it has happened, and so refuses whatever comes next."""
ASKED = frozenset((*SETTLED, *PASSED))
"""What may turn out to be used is settled also where none of it was foreseen."""


class _Crossed(Exception):
    """A limit was reached between two statements; raised to undo the first."""


class LedgerSpending:
    """The meters of a ledger: exact for any number of threads, processes and hosts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take(self, wanted: Spend, now: datetime) -> Taken | Refused | None:
        """Count a spend in all its meters or in none; None if the session has ended.

        What is to be held is refused also where messages or time have reached a limit. Granted
        together never exceed a limit. A crash of the database server or of the machine may lose
        a grant; `settle` counts its use all the same.
        """
        for _ in range(ATTEMPTS):
            with suppress(_Crossed):  # asked anew, it is refused
                return self._database.write(lambda tx: take(tx, wanted, now), lasting=False)
        raise LedgerBusy("others spend from the same budgets faster than this can be counted")

    def settle(
        self, grant: Granted | None, session: int, used: Mapping[Unit, int], usage: Usage
    ) -> bool:
        """Count what was really used instead of what is held; False if it was counted before.

        The session is the one to whose usage it is added, where its conversation went on. The use
        of a grant that was freed meanwhile, or that a crash of the database took, is counted too.
        Repeating it with the same grant changes nothing; use without a grant is counted each time.
        """
        return self._database.write(
            lambda tx: settle(tx, grant, session, used, usage), lasting=bool(used)
        )

    def free(self, now: datetime) -> list[Freed]:
        """Give back what is held by workers that left or are dead; what that was."""

        def job(tx: Transaction) -> list[Freed]:
            tx.all("forget_grants", before=micros(now - KEEP_SLICES))
            tx.all("forget_slices", before=micros(now - KEEP_SLICES))
            tx.all("forget_counters", before=micros(now - KEEP_COUNTERS))
            found = tx.all("free_grants", now=micros(now))
            give_back(tx, [(hold, 0) for row in found for hold in held(row[0])], None)
            return [freed(row) for row in found]

        return self._database.write(job)

    def standing(self, who: Who, bounds: Sequence[Bound], now: datetime) -> list[Standing]:
        """How the meters stand, with a person's own limits in place of the given ones."""

        def job(tx: Transaction) -> list[Standing]:
            return [look_at(tx, bound) for bound in with_caps(tx, who, bounds, now)]

        return self._database.read(job)

    def look(
        self, who: Who, epoch: int | None, bounds: Sequence[Bound], now: datetime
    ) -> list[Standing] | None:
        """The same for whoever spends; None if the session has ended or the fence fell.

        Without an `epoch` nobody asks for either.
        """

        def job(tx: Transaction) -> list[Standing] | None:
            found = with_fenced_caps(tx, who, epoch, bounds, now)
            return None if found is None else [look_at(tx, bound) for bound in found]

        return self._database.read(job)

    def mark(self, mark: Mark, entry: Entry, now: datetime) -> bool:
        """Note in the journal what is told about a meter, once."""
        times = {"ref": mark.counter, "before": micros(mark.before), "now": micros(now)}

        def job(tx: Transaction) -> bool:
            row = (
                tx.one("mark_stopped", **times)
                if mark.is_stop
                else tx.one("mark_warned", **times, most=mark.limit)
            )
            if row is not None:
                tx.all("insert_entry", **rows.entry(entry, now))
            return row is not None

        return self._database.write(job)

    def root(self, session: int) -> int:
        """The row of the session from which its tree of subagents and compressions grew."""
        return self._database.read(lambda tx: root_of(tx, session))

    def cap(self, meter: Meter, budget: Budget | None, entry: Entry, now: datetime) -> None:
        """Give one meter a limit of its own, or take it away; what was allowed beyond is over."""

        def job(tx: Transaction) -> None:
            [counter] = open_counters(tx, [Bound(meter=meter, budgets=())], now)
            limit, action = (None, None) if budget is None else (budget.limit, budget.action)
            tx.all("set_cap", ref=counter, cap=limit, action=action)
            tx.all("clear_added", ref=counter)
            tx.all("clear_marks", ref=counter)
            tx.all("insert_entry", **rows.entry(entry, now))

        self._database.write(job)

    def add(self, bound: Bound, amount: int, entry: Entry, now: datetime) -> None:
        """Allow so much more in one meter, for as long as its slice counts."""

        def job(tx: Transaction) -> None:
            [counter] = open_counters(tx, [bound], now)
            standings_of(tx, [(counter, bound)])
            tx.all("add_slice", counter=counter, start=bound.start, amount=amount)
            tx.all("clear_marks", ref=counter)
            tx.all("insert_entry", **rows.entry(entry, now))

        self._database.write(job)

    def snapshot(self, session: int) -> str | None:
        """What was last stored about the tools of a session, or of what was compressed into it."""
        row = self._database.read(lambda tx: tx.one("find_guard", ref=session))
        return None if row is None else row[0]


def take(tx: Transaction, wanted: Spend, now: datetime) -> Taken | Refused | None:
    """Count a spend in all its meters or in none, in the caller's transaction."""
    limited = with_fenced_caps(tx, wanted.who, wanted.epoch, wanted.bounds, now)
    if limited is None:
        return None
    bounds = [
        bound for bound in limited if _amount(wanted.at_once, bound) or _is_asked(wanted, bound)
    ]
    # One statement locks the counters of all meters, and the next one asks for their sums.
    counters = open_counters(tx, bounds, now)
    standings = standings_of(tx, list(zip(counters, bounds, strict=True)))
    if wanted.limited:
        for standing in standings:
            budget = standing.bound.limit()
            if budget is not None and _is_full(wanted, standing, budget.limit):
                return Refused(standing=standing, budget=budget)
    # In the order of their rows, as whoever settles them does.
    holds = _take(tx, wanted, sorted(standings, key=lambda each: each.counter))
    grant = None
    if wanted.held is not None and holds:
        places = tuple((b.meter, b.start) for b in bounds if b.meter.unit in SETTLED)
        name = wanted.slot or Slot(os.urandom(16).hex(), 0)
        grant = Granted(name, wanted.who.session, wanted.worker, now, places)
        insert_grant(tx, grant, [hold for hold in holds if hold.unit in SETTLED])
    return Taken(grant=grant, standings=tuple(_after(wanted, each) for each in standings))


def _take(tx: Transaction, wanted: Spend, standings: Sequence[Standing]) -> list[Hold]:
    holds, wishes = [], []
    for standing in standings:
        bound, unit = standing.bound, standing.bound.meter.unit
        limit = bound.limit() if wanted.limited else None
        most = None if limit is None else limit.limit
        reserved = _amount(wanted.held, bound) if unit in SETTLED else 0
        spent = _amount(wanted.at_once, bound)
        if reserved or spent:
            span = (standing.counter, bound.start, bound.since, bound.ahead)
            wishes.append((*span, spent, reserved, most))
        holds.append(Hold(standing.counter, bound.start, unit, reserved))
    if wishes and len(tx.all("take_slices", rows=json.dumps(wishes))) < len(wishes):
        raise _Crossed
    return holds


def _after(wanted: Spend, standing: Standing) -> Standing:
    bound = standing.bound
    return standing._replace(
        spent=standing.spent + _amount(wanted.at_once, bound),
        reserved=standing.reserved + _amount(wanted.held, bound),
    )


def _wish(wanted: Spend, standing: Standing) -> int:
    return _amount(wanted.at_once, standing.bound) + _amount(wanted.held, standing.bound)


def _is_asked(wanted: Spend, bound: Bound) -> bool:
    return wanted.held is not None and bound.meter.unit in ASKED


def _is_full(wanted: Spend, standing: Standing, limit: int) -> bool:
    if _is_asked(wanted, standing.bound) and is_reached(limit + standing.added, standing.spent):
        return True
    return not fits(limit, standing.used, _wish(wanted, standing))


def _amount(amounts: Mapping[Unit, int] | None, bound: Bound) -> int:
    return 0 if amounts is None else amounts.get(bound.meter.unit, 0)
