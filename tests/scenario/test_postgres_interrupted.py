"""Exceptions out of signal handlers leave every connection of a PostgreSQL ledger usable."""

from __future__ import annotations

import threading
from contextlib import closing, suppress
from functools import partial

import pytest
from psycopg._preparing import PrepareManager

from sexton.errors import LedgerUnreachable
from sexton.store.database import Transaction
from sexton.store.opening import open_database
from sexton.store.postgres import PostgresDatabase, PostgresTransaction
from tests.contract.ledger_contract_samples import race
from tests.crash.impatience import impatient
from tests.interrupting import Interrupt, interrupted_at_every_step

SIZE = 16
OFTEN = 2 * (PrepareManager.prepare_threshold or 0)
"""More often than the driver sees a statement before it has the server prepare it."""


def use_all_at_once(database: PostgresDatabase) -> None:
    """Needs as many connections as there are."""
    together = threading.Barrier(SIZE, timeout=240)
    race([partial(database.read, lambda _: together.wait())] * SIZE)


@pytest.mark.parametrize("call", ["read", "write", "statement"])
def test_an_exception_at_any_step_takes_no_connection_away(postgres_url: str, call: str) -> None:
    with closing(open_database(postgres_url, patience=240)) as database:
        assert isinstance(database, PostgresDatabase)
        interrupts = sum(
            problem is not None
            for problem in interrupted_at_every_step(partial(act, database, call))
        )
        assert interrupts > SIZE
        use_all_at_once(database)


def test_nor_does_one_that_is_kept(postgres_url: str) -> None:
    kept: list[Interrupt | None] = []
    with closing(open_database(postgres_url, patience=240)) as database:
        assert isinstance(database, PostgresDatabase)

        def read() -> None:
            with suppress(LedgerUnreachable):
                act(database, "read")

        with impatient(database, 2.0):
            kept.extend(interrupted_at_every_step(read))
        assert len(kept) > SIZE
        use_all_at_once(database)


def test_a_beginning_that_was_interrupted_is_never_prepared(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two commands begin a relaxed write; the exception comes before the driver sees two results.

    The driver has counted the statement by then and forgets that no server can prepare it.
    """
    with closing(open_database(postgres_url, patience=240)) as database:

        def connected(tx: Transaction) -> int:
            assert isinstance(tx, PostgresTransaction)
            return tx._connection.info.backend_pid

        def interrupt(*_: object) -> None:
            driver.undo()
            raise Interrupt

        used = {database.write(connected, lasting=False)}
        with monkeypatch.context() as driver:
            driver.setattr(PrepareManager, "validate", interrupt)
            with pytest.raises(Interrupt):
                database.write(connected, lasting=False)
        used |= {database.write(connected, lasting=False) for _ in range(OFTEN)}
        assert len(used) == 1, "the connection that was interrupted is used again"


def act(database: PostgresDatabase, call: str) -> None:
    if call == "statement":
        database.statement("ledger_row")
    else:
        getattr(database, call)(lambda tx: tx.one("ledger_row"))
