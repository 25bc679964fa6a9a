"""A process that is frozen in the middle of a transaction holds nobody else up for long."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sexton.errors import LedgerUnreachable
from sexton.rules.rulebook import Rulebook
from sexton.settings.settings_values import Settings
from sexton.spending.model import Budget, Scope, Unit
from sexton.spending.policy import RunawayPolicy, SpendRules
from sexton.store.opening import open_database, open_ledger
from sexton.store.postgres import PostgresDatabase, PostgresTransaction
from sexton.wiring import Sexton
from tests.crash.impatience import impatient
from tests.crash.standing_still import letter
from tests.kit.nursery import Nursery
from tests.kit.postgres_server import PostgresServer

VICTIMS = "tests.crash.standing_still"
PATIENCE, PAUSE = 240.0, 0.05
AT_WORK = """
SELECT count(*) FROM pg_stat_activity
WHERE application_name = 'sexton' AND datname = current_database() AND state = 'active'
"""


@pytest.fixture
def house(postgres_url: str) -> Iterator[Sexton]:
    budget = Budget(name="all", scope=Scope.SOURCE, unit=Unit.TOKENS, limit=1000)
    calm = RunawayPolicy(messages=None, tokens=None, tool_calls=None)
    rules = Rulebook(spend=SpendRules(budgets=(budget,), runaway=calm))
    with closing(
        Sexton(open_ledger(postgres_url, patience=PATIENCE), Settings(rulebook=rules))
    ) as opened:
        opened.publish()
        yield opened


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "gate")
    return tmp_path / "gate"


@pytest.fixture
def victims() -> Iterator[Nursery]:
    with Nursery(VICTIMS) as opened:
        yield opened


def test_a_frozen_agent_keeps_nobody_from_a_shared_budget_and_gets_its_own_grant_later(
    house: Sexton, victims: Nursery, gate: Path, postgres_url: str
) -> None:
    session = house.worker().session("other", source="shared")
    child = victims.start(f"{VICTIMS}:reserve", postgres_url, str(gate))
    child.wait_for(lambda lines: "locked" in lines)
    child.signal(signal.SIGSTOP)
    with session.turn() as turn:
        turn.reserve(input_tokens=1).commit(input_tokens=1)
    child.signal(signal.SIGCONT)
    with gate.open("wb"):  # what the server gave up is run again: nothing of it was committed
        child.wait_for(lambda lines: "granted" in lines)


def test_a_frozen_keeper_keeps_no_other_from_sweeping(
    house: Sexton, victims: Nursery, gate: Path, postgres_url: str
) -> None:
    dead = victims.start(f"{VICTIMS}:hold", postgres_url)
    dead.wait_for(lambda lines: "holds" in lines)
    dead.wait()
    child = victims.start(f"{VICTIMS}:sweep", postgres_url, str(gate))
    child.wait_for(lambda lines: "locked" in lines)
    child.signal(signal.SIGSTOP)
    house.sweep()
    child.signal(signal.SIGCONT)
    with gate.open("wb"):
        child.wait_for(lambda lines: "swept" in lines)


def test_a_process_frozen_between_two_rows_of_a_statement_holds_up_nobody(
    house: Sexton, victims: Nursery, gate: Path, postgres_url: str
) -> None:
    child = victims.start(f"{VICTIMS}:notify", postgres_url, str(gate))
    child.wait_for(lambda lines: "locked" in lines)
    child.signal(signal.SIGSTOP)
    with closing(open_database(postgres_url, patience=PATIENCE)) as database:
        database.write(lambda tx: tx.many("post_notice", [letter("first", "not so long")]))
    child.signal(signal.SIGCONT)
    with gate.open("wb"):
        child.wait_for(lambda lines: "posted" in lines)


def lock_ledger(tx: Any) -> None:
    tx._connection.execute("SELECT id FROM ledger FOR UPDATE")


@pytest.mark.parametrize("tcp", [False, True])
def test_the_server_stops_working_for_a_call_that_was_given_up(tcp: bool) -> None:
    # Without the check of the server's own, so that only the cancel can end the wait for a row.
    off = "-c client_connection_check_interval=0"
    with PostgresServer(tcp=tcp) as server:
        url = server.create_database()
        sign = "&" if "?" in url else "?"
        url += f"{sign}options={off.replace(' ', '%20').replace('=', '%3D')}"
        with (
            closing(open_database(url, patience=PATIENCE)) as database,
            psycopg.connect(url) as other,
        ):
            assert isinstance(database, PostgresDatabase)
            other.execute("SELECT id FROM sexton.ledger FOR UPDATE")
            with impatient(database, 1.0), pytest.raises(LedgerUnreachable):
                database.write(lock_ledger)
            until = time.monotonic() + PATIENCE
            with psycopg.connect(url, autocommit=True) as watcher:
                while watcher.execute(AT_WORK).fetchone() != (0,):
                    assert time.monotonic() < until
                    time.sleep(PAUSE)


SETTINGS = {
    "idle_in_transaction_session_timeout": "5s",
    "client_connection_check_interval": "2s",
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "25000",
    "synchronous_commit": "on",
    "search_path": "sexton",
}


def shown(database: PostgresDatabase) -> set[tuple[tuple[str, str], ...]]:
    """The settings of many connections that were open at once."""
    together, shown = threading.Barrier(4, timeout=PATIENCE), []

    def job(tx: PostgresTransaction) -> None:
        rows = [(name, tx._connection.execute(f"SHOW {name}").fetchone()) for name in SETTINGS]
        together.wait()
        shown.append(tuple((name, row[0]) for name, row in rows if row))

    threads = [threading.Thread(target=database.read, args=(job,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(shown) == 4
    return set(shown)


def test_every_connection_has_timeouts_that_free_others_and_an_operators_own_win() -> None:
    with PostgresServer(tcp=True) as server:
        url = server.create_database()
        for options, changed in (
            ("", {}),
            (
                "-c idle_in_transaction_session_timeout=9s",
                {"idle_in_transaction_session_timeout": "9s"},
            ),
            ("-c client_connection_check_interval=7s", {"client_connection_check_interval": "7s"}),
            ("-c synchronous_commit=off", {}),
        ):
            own = options.replace(" ", "%20").replace("=", "%3D")
            with closing(open_database(f"{url}?options={own}", patience=PATIENCE)) as database:
                assert isinstance(database, PostgresDatabase)
                assert shown(database) == {tuple((SETTINGS | changed).items())}
