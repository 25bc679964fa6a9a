"""What sessions owe to finalizers, decided by the view that the triggers queue jobs from."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sexton.core.session import State
from sexton.finalizers.model import Due, DueVerdict
from sexton.rules.rulebook import owings
from sexton.store import rows
from sexton.store.database import Database


class LedgerDues:
    """Implements `ports.finalizing.Dues`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, sessions: Sequence[int], rules: str | None = None) -> list[Due]:
        """What other rules would owe is only read: they stand in place of the stored ones."""
        refs = json.dumps(list(sessions))
        if rules is None:
            return _dues(self._database.read(lambda tx: tx.all("find_dues", refs=refs)))
        drafted = [row for owing in owings(rules) for row in owing.rows()]
        text = json.dumps([[row[name] for name in _OWING] for row in drafted])
        return _dues(
            self._database.read(lambda tx: tx.all("find_drafted_dues", refs=refs, rules=text))
        )


_OWING = ("finalizer", "source", "min_messages")


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
