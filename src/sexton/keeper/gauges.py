"""The ledger in numbers, now and over time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sexton.core.session import State
from sexton.liveness.store import KEEP
from sexton.sessions.board import Figure, Spent
from sexton.store.database import Database, Transaction
from sexton.store.rows import micros, moment


class LedgerGauges:
    """The ledger in numbers, now and over time."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def tally(self) -> Mapping[tuple[str, State], int]:
        """How many sessions of each home are in each state."""

        def job(tx: Transaction) -> dict[tuple[str, State], int]:
            return {
                (home[1], state): count
                for home in tx.all("all_homes")
                for state in State
                for (count,) in tx.all("count_in_state", home=home[0], state=state)
            }

        return self._database.read(job)

    def oldest_work(self) -> Mapping[str, datetime]:
        """Since when the oldest work of each finalizer is owed that is not done yet."""
        found = self._database.read(lambda tx: tx.all("oldest_work"))
        return {finalizer: moment(owed_at) for finalizer, owed_at in found}

    def spent_since(self, since: datetime) -> Spent:
        """What sessions that were active since then have cost, in all their time."""

        def job(tx: Transaction) -> list[tuple[int, ...]]:
            return [
                row
                for home in tx.all("all_homes")
                for row in tx.all("spent_since", home=home[0], since=micros(since))
            ]

        found = self._database.read(job)
        return Spent(*(sum(column) for column in zip(*found, strict=True)))

    def store(self, figures: Mapping[str, int], now: datetime) -> None:
        """Keep figures; very old ones are forgotten."""
        values = [
            {"name": name, "at": micros(now), "value": value} for name, value in figures.items()
        ]

        def job(tx: Transaction) -> None:
            tx.many("store_figure", values)
            tx.all("forget_figures", before=micros(now - KEEP))

        self._database.write(job)

    def since(self, start: datetime) -> list[Figure]:
        """The figures from a moment on, oldest first."""
        found = self._database.read(lambda tx: tx.all("figures_since", since=micros(start)))
        return [Figure(name, moment(at), value) for name, at, value in found]
