"""PostgreSQL lets a grant and its settlement in together: whichever wins, nothing stays held."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import psycopg
import pytest

from sexton.core.usage import Usage
from sexton.errors import LedgerBusy
from sexton.spending import settling
from sexton.spending import store as spending
from sexton.spending.budgets import tokens
from sexton.spending.model import Slot, Spend, Taken, Unit
from sexton.store.ledger import Ledger
from sexton.store.opening import open_ledger
from sexton.store.postgres import PostgresTransaction
from tests.contract.ledger_contract_samples import NOON, born
from tests.contract.ledger_contract_spending_lost import SLOT, unheard
from tests.contract.ledger_contract_spending_samples import (
    bound_by,
    budget,
    granted,
    settle,
    standing,
    take,
    who,
)

BOUND = 240.0
LIMIT = budget()
HELD = 10
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE %s = ANY(pg_blocking_pids(pid))"


@pytest.fixture
def ledger(postgres_url: str) -> Iterator[Ledger]:
    with closing(open_ledger(postgres_url, patience=BOUND)) as opened:
        yield opened


@pytest.fixture
def first(postgres_url: str, ledger: Ledger) -> Iterator[psycopg.Connection[Any]]:
    """A transaction that stays open until somebody says how it ends."""
    with closing(_connected(postgres_url)) as connection:
        connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
        yield connection


@pytest.mark.parametrize("used", [0, 30])
@pytest.mark.parametrize("has_earlier", [False, True])
@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK"])
def test_a_settlement_gives_back_a_grant_that_is_stored_at_the_same_moment(
    ledger: Ledger,
    first: psycopg.Connection[Any],
    postgres_url: str,
    end: str,
    has_earlier: bool,
    used: int,
) -> None:
    session = born(ledger)
    if has_earlier:
        granted(ledger, session, LIMIT, slot=Slot(SLOT, 1), input_tokens=1)
    name = Slot(SLOT, 2)
    wanted = Spend(
        who=who(session),
        worker="agent",
        bounds=bound_by([LIMIT], session),
        held=tokens({Unit.INPUT: HELD}),
        slot=name,
    )
    taken = spending.take(PostgresTransaction(first), wanted, NOON)
    assert isinstance(taken, Taken)
    grant = taken.grant
    assert grant is not None

    def settled() -> bool:
        return settle(ledger, grant, session, **({"input_tokens": used} if used else {}))

    assert _waits_until(first, end, settled, postgres_url)
    found = standing(ledger, session, LIMIT)
    assert (found.spent, found.reserved) == (used, 0)
    assert not settled()


def test_a_grant_is_refused_that_is_stored_while_it_is_settled(
    ledger: Ledger, first: psycopg.Connection[Any], postgres_url: str
) -> None:
    session = born(ledger)
    grant = unheard(session)
    assert settling.settle(PostgresTransaction(first), grant, session.ref, {}, Usage())

    def refused() -> bool:
        with pytest.raises(LedgerBusy):
            take(ledger, session, LIMIT, slot=grant.name, input_tokens=HELD)
        return True

    assert _waits_until(first, "COMMIT", refused, postgres_url)
    found = standing(ledger, session, LIMIT)
    assert (found.spent, found.reserved) == (0, 0)


def _connected(url: str) -> psycopg.Connection[Any]:
    return psycopg.connect(url, autocommit=True, options="-c search_path=sexton")


def _waits_until(
    first: psycopg.Connection[Any], end: str, second: Callable[[], bool], url: str
) -> bool:
    """What comes of the second, which has to wait for the first one's end."""
    until = time.monotonic() + BOUND
    with ThreadPoolExecutor(1) as pool, closing(_connected(url)) as observer:
        answer = pool.submit(second)
        while observer.execute(WAITING, [first.info.backend_pid]).fetchone() == (0,):
            assert not answer.done()
            assert time.monotonic() < until
        first.execute(end)
        return answer.result(BOUND)
