"""What was counted over time, and what was only recorded."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sexton.core.plan import ReapSession
from sexton.liveness.liveness_ports import Sample, ShadowCount
from sexton.store.database import Database, Transaction
from sexton.store.rows import maybe_moment, micros, moment

KEEP = timedelta(days=400)


class LedgerSamples:
    """Implements `ports.Samples`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def store(self, samples: Sequence[Sample], now: datetime) -> None:
        def job(tx: Transaction) -> None:
            tx.many(
                "store_sample",
                [
                    {
                        "home": sample.home,
                        "at": micros(sample.at),
                        "open": sample.open,
                        "live": sample.live,
                        "waiting": sample.waiting,
                        "leaked": sample.leaked,
                        "unproven": sample.unproven,
                    }
                    for sample in samples
                ],
            )
            tx.all("forget_samples", before=micros(now - KEEP))
            tx.all("forget_shadow_reaps", before=micros(now - KEEP))

        self._database.write(job)

    def since(self, start: datetime) -> list[Sample]:
        found = self._database.read(lambda tx: tx.all("samples_since", since=micros(start)))
        return [
            Sample(
                home=row[0],
                at=moment(row[1]),
                open=row[2],
                live=row[3],
                waiting=row[4],
                leaked=row[5],
                unproven=row[6],
            )
            for row in found
        ]

    def record(self, *actions: ReapSession, now: datetime) -> list[bool]:
        told = [
            {
                "home": action.seen.home,
                "session": action.seen.id,
                "now": micros(now),
                "active_at": micros(action.seen.active_at),
                "reason": action.reason.code,
            }
            for action in actions
        ]

        def job(tx: Transaction) -> list[bool]:
            return [tx.one("record_shadow_reap", **values) is not None for values in told]

        return self._database.write(job)

    def recorded(self, home: str) -> frozenset[tuple[str, datetime]]:
        found = self._database.read(lambda tx: tx.all("recorded_reaps", home=home))
        return frozenset((row[0], moment(row[1])) for row in found)

    def shadows(self) -> list[ShadowCount]:
        found = self._database.read(lambda tx: tx.all("count_shadow_reaps"))
        return [ShadowCount(home=row[0], recorded=row[1], contradicted=row[2]) for row in found]

    def first_shadow(self, home: str) -> datetime | None:
        ((first,),) = self._database.read(lambda tx: tx.all("first_shadow_reap", home=home))
        return maybe_moment(first)
