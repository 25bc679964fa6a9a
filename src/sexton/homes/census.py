"""The sessions of a home in numbers, counted where they are stored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime

from sexton.core.endings import is_reap
from sexton.core.record import replace
from sexton.core.session import Session, State
from sexton.homes.home_ports import AGES, Cohort, HomeRecord, Started
from sexton.store import rows
from sexton.store.database import Database, Transaction
from sexton.store.rows import micros, moment

DAY = 86_400_000_000
"""Microseconds."""


class LedgerCensus:
    """Implements `ports.homes.Census`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def cohorts(self, home: HomeRecord, now: datetime) -> list[Cohort]:
        hour, day, week, month = (micros(now - age) for age in AGES)
        found = self._database.read(
            lambda tx: tx.all("cohorts", home=home.ref, hour=hour, day=day, week=week, month=month)
        )
        return [
            Cohort(
                source=row[0],
                state=State(row[1]),
                end_reason=row[2],
                age=row[3],
                sessions=row[4],
                messages=row[5],
                bytes=row[6],
                oldest=moment(row[7]),
                newest=moment(row[8]),
            )
            for row in found
        ]

    def started(self, home: HomeRecord, since: datetime) -> list[Started]:
        found = self._database.read(
            lambda tx: tx.all("started_by_day", home=home.ref, since=micros(since), day=DAY)
        )
        days: dict[int, Started] = {}
        for day, reason, count, still_open in found:
            known = days.get(day) or Started(day=moment(day * DAY).date())
            days[day] = replace(
                known,
                sessions=known.sessions + count,
                open=known.open + still_open,
                reaped=known.reaped + (count if is_reap(reason, home.name) else 0),
            )
        return list(days.values())

    def biggest(self, home: HomeRecord, limit: int) -> list[Session]:
        found = self._database.read(lambda tx: tx.all("biggest", home=home.ref, limit=limit))
        return [rows.session(row) for row in found]

    def held(self, home: HomeRecord) -> Mapping[tuple[str, ...], int]:
        def job(tx: Transaction) -> dict[tuple[str, ...], int]:
            found = {
                tuple(json.loads(row[0])): row[1] for row in tx.all("held_together", home=home.ref)
            }
            ((still_open,),) = tx.all("count_open", home=home.ref)
            return found | {(): still_open - sum(found.values())}

        return self._database.read(job)

    def silent(self, home: HomeRecord, source: str, since: datetime) -> int:
        values = {"home": home.ref, "source": source, "since": micros(since)}
        ((count,),) = self._database.read(lambda tx: tx.all("count_silent", **values))
        return int(count)
