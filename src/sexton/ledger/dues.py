"""What sessions owe to finalizers, decided by the view that the triggers queue jobs from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Never

from sexton.ledger import rows
from sexton.ledger.database import Database, Transaction
from sexton.model.finalization import Due, DueVerdict
from sexton.model.session import State
from sexton.policies.rulebook import owings


class _Answered(Exception):
    """Carries the answer out of a transaction, which is rolled back."""

    def __init__(self, answer: list[rows.Row]) -> None:
        super().__init__()
        self.answer = answer


class LedgerDues:
    """Implements `ports.finalizing.Dues`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, sessions: Sequence[int], rules: str | None = None) -> list[Due]:
        """Other rules are put in place of those in force, asked, and rolled back."""
        refs = json.dumps(list(sessions))

        if rules is None:
            return _dues(self._database.read(lambda tx: tx.all("find_dues", refs=refs)))
        drafted = [row for owing in owings(rules) for row in owing.rows()]

        def job(tx: Transaction) -> Never:
            tx.all("clear_owing")
            tx.many("insert_owing", drafted)
            raise _Answered(tx.all("find_dues", refs=refs))

        try:
            self._database.write(job)
        except _Answered as answered:
            return _dues(answered.answer)


def _dues(found: Sequence[rows.Row]) -> list[Due]:
    return [
        Due(
            session=row[0],
            finalizer=row[1],
            verdict=DueVerdict(row[2]),
            since=row[3],
            through=row[4],
            least=row[5],
            state=State(row[6]),
            source=row[7],
            message_count=row[8],
            byte_count=row[9],
        )
        for row in found
    ]
