"""How many statements does a reservation send while it locks the counters of others?"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import Any

import psycopg

from sexton.core.session import Session
from sexton.spending.budgets import tokens
from sexton.spending.model import Scope, Spend, Taken, Unit
from sexton.spending.store import take
from sexton.store.database import Database, Transaction
from sexton.store.opening import open_database, open_ledger
from sexton.store.rows import Row
from tests.contract.ledger_contract_samples import NOON, at, born, enrol
from tests.contract.ledger_contract_spending_samples import HOUR, bound_by, budget, settle, who

BUDGETS = (
    budget(Scope.SESSION),
    budget(Scope.TREE, per=HOUR),
    budget(Scope.SOURCE),
    budget(Scope.DAY),
)


class Counting:
    """A transaction that remembers which statements it sent."""

    def __init__(self, tx: Transaction, sent: list[str]) -> None:
        self._tx = tx
        self._sent = sent

    def all(self, name: str, /, **values: Any) -> list[Row]:
        self._sent.append(name)
        return self._tx.all(name, **values)

    def one(self, name: str, /, **values: Any) -> Row | None:
        self._sent.append(name)
        return self._tx.one(name, **values)

    def many(self, name: str, rows: Iterable[Mapping[str, Any]], /) -> None:
        sent = list(rows)
        self._sent.extend([name] * len(sent))
        self._tx.many(name, sent)


def wish(session: Session, meters: int) -> Spend:
    return Spend(
        who=who(session),
        worker="agent",
        bounds=bound_by(BUDGETS[:meters], session),
        held=tokens({Unit.INPUT: 1}),
    )


def statements_of(database: Database, wanted: Spend) -> list[str]:
    """The names of the statements that the reservation sends."""
    sent: list[str] = []
    taken = database.write(lambda tx: take(Counting(tx, sent), wanted, at(1)))
    assert isinstance(taken, Taken)
    assert len(taken.standings) == len(wanted.bounds)
    return sent


def test_a_reservation_sends_as_many_statements_for_four_meters_as_for_one(
    engine_url: str,
) -> None:
    with closing(open_ledger(engine_url)) as ledger, closing(open_database(engine_url)) as database:
        enrol(ledger, "agent")
        counts = {}
        for meters in (1, 4):
            session = born(ledger, f"{meters}")
            first = ledger.spending.take(wish(session, meters), NOON)
            assert isinstance(first, Taken)
            assert settle(ledger, first.grant, session, input_tokens=1)
            sent = statements_of(database, wish(session, meters))
            counts[meters] = len(sent)
        locked = sent[sent.index("lock_counters") :]
        assert counts == {1: 5, 4: 5}
        assert locked == ["lock_counters", "sum_slices", "take_slices", "insert_grant"]


def test_a_reservation_whose_counter_is_missing_locks_none_before_it_opens_all(
    postgres_url: str,
) -> None:
    """Or two that open counters of others' names would wait for one another."""
    with closing(open_ledger(postgres_url)) as ledger:
        enrol(ledger, "agent")
        session = born(ledger, "talk")
        assert isinstance(ledger.spending.take(wish(session, 1), NOON), Taken)

        def locked(meters: int) -> bool:
            """Whether somebody else finds the counter locked after `lock_counters`."""
            measured = [bound.meter for bound in wish(session, meters).bounds]
            names = [(m.scope, m.subject, m.unit, m.period) for m in measured]

            def job(tx: Transaction) -> bool:
                found = tx.all("lock_counters", rows=json.dumps(names), fresh=0)
                assert len(found) == (1 if meters == 1 else 0)
                with psycopg.connect(postgres_url) as other:
                    free = other.execute("SELECT 1 FROM sexton.counters FOR UPDATE SKIP LOCKED")
                    return free.fetchone() is None

            return database.write(job)

        with closing(open_database(postgres_url)) as database:
            assert [locked(1), locked(4)] == [True, False]
