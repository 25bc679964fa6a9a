"""Usage counts exactly once, also when the database lost the reservation or the answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import apsw
import psutil
import psycopg
import pytest

from sexton.core.record import replace
from sexton.core.session import Session
from sexton.errors import LedgerError, LedgerUnreachable
from sexton.liveness.policy import LivenessPolicy
from sexton.rules.rulebook import Rulebook
from sexton.sessions.agent_session import OpenSession
from sexton.sessions.agent_worker import AgentWorker
from sexton.settings.settings_values import Settings
from sexton.spending.model import Bound, Budget, Meter, Scope, Unit, Who
from sexton.spending.policy import RunawayPolicy, SpendRules
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from tests.kit.postgres_server import PostgresServer
from tests.scenario.fleet import Machine

LIMIT = Budget(name="own", scope=Scope.SESSION, unit=Unit.TOKENS, limit=100_000)
DAILY = Budget(name="daily", scope=Scope.DAY, unit=Unit.TOKENS, limit=100_000)
QUIET = LivenessPolicy(beat_every=timedelta(hours=1), ttl=timedelta(hours=6))
LOST = ("grants", "slices", "counters")
PATIENCE = 240.0

Opened = Callable[..., AgentWorker]


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    """A server that writes its log only if it must, or if its writer of the log runs."""
    settings = {
        "autovacuum": "off",
        "bgwriter_lru_maxpages": "0",
        "checkpoint_timeout": "1h",
        "wal_writer_delay": "10s",
    }
    with PostgresServer(settings=settings) as own:
        yield own


@pytest.fixture
def opened() -> Iterator[Opened]:
    """A worker that writes nothing by itself, under two budgets unless told otherwise."""
    houses: list[Sexton] = []

    def make(url: str, *budgets: Budget) -> AgentWorker:
        calm = RunawayPolicy(messages=None, tokens=None, tool_calls=None)
        spend = SpendRules(budgets=budgets, runaway=calm)
        house = Sexton(
            open_ledger(url, patience=PATIENCE),
            Settings(rulebook=Rulebook(spend=spend, liveness=QUIET)),
            clock=ManualClock(),
            processes=Machine("host"),
        )
        house.publish()
        houses.append(house)
        return house.worker()

    yield make
    for house in houses:
        in_the_end(house.close)


def run_sql(url: str, text: str) -> list[tuple[Any, ...]]:
    if url.startswith("sqlite:///"):
        connection = apsw.Connection(url.removeprefix("sqlite:///"))
        connection.set_busy_timeout(240_000)
        rows = connection.execute(text).fetchall()
        connection.close()
        return rows
    with psycopg.connect(url, options="-c search_path=sexton", autocommit=True) as server:
        cursor = server.execute(text.encode())
        return cursor.fetchall() if cursor.description else []


def in_the_end(act: Callable[[], object]) -> None:
    """Repeat a call that may meet a broken connection until it succeeds."""
    give_up = time.monotonic() + PATIENCE
    while True:
        try:
            act()
            return
        except LedgerError:
            assert time.monotonic() < give_up


def used(worker: AgentWorker, session: OpenSession) -> Session:
    [now] = worker._desk.ledger.index.find("native", session.id)
    return now


def spent(worker: AgentWorker, session: OpenSession) -> list[tuple[int, int]]:
    """What the meter of the session and that of the day have spent and reserved."""
    ref, now = session._session.ref, worker._desk.clock.now()
    meters = (
        Meter(Scope.SESSION, str(ref), Unit.TOKENS),
        Meter(Scope.DAY, "", Unit.TOKENS, now.date().isoformat()),
    )
    bounds = [Bound(meter=meter, budgets=()) for meter in meters]
    found = worker._desk.ledger.spending.standing(Who(ref, ref, "telegram"), bounds, now)
    return [(each.spent, each.reserved) for each in found]


@pytest.mark.postgres
def test_a_crash_of_postgresql_loses_reservations_and_no_usage(
    server: PostgresServer, opened: Opened
) -> None:
    url = server.create_database()
    worker = opened(url, LIMIT, DAILY)
    session = worker.session("a", source="telegram")
    with session.turn() as turn:
        # Nobody flushes the log now but a durable commit, and none follows the reservation.
        [writer] = [
            child
            for child in psutil.Process(server.pid).children()
            if "walwriter" in " ".join(child.cmdline())
        ]
        writer.suspend()
        grant = turn.reserve(input_tokens=1_000)
        server.kill()
        server.start()
        assert run_sql(url, "SELECT * FROM grants") == []
        in_the_end(lambda: grant.commit(input_tokens=700, output_tokens=300))
    assert used(worker, session).usage.tokens == 1_000
    assert spent(worker, session) == [(1_000, 0), (1_000, 0)]
    server.kill()
    server.start()
    in_the_end(lambda: used(worker, session))
    assert used(worker, session).usage.tokens == 1_000
    assert spent(worker, session) == [(1_000, 0), (1_000, 0)]


def test_usage_counts_when_the_reservation_is_gone(engine_url: str, opened: Opened) -> None:
    worker = opened(engine_url, LIMIT, DAILY)
    session = worker.session("a", source="telegram")
    with session.turn() as turn:
        turn.reserve(input_tokens=100).commit(input_tokens=50)
        lost, released = turn.reserve(input_tokens=100), turn.reserve(input_tokens=100)
        for table in LOST:
            run_sql(engine_url, f"DELETE FROM {table}")
        lost.commit(input_tokens=70)
        released.release()
    assert used(worker, session).usage.tokens == 120
    # What the day had counted before was lost with its counter; the session knows its own usage.
    assert spent(worker, session) == [(120, 0), (70, 0)]


@pytest.mark.parametrize("budgets", [(), (LIMIT, DAILY)])
@pytest.mark.parametrize("gone", [False, True])
def test_a_commit_whose_answer_was_lost_counts_once_when_it_is_repeated(
    engine_url: str, opened: Opened, budgets: tuple[Budget, ...], gone: bool
) -> None:
    worker = opened(engine_url, *budgets)
    answers = Unheard(worker)
    session = worker.session("a", source="telegram")
    with session.turn() as turn:
        again, left = turn.reserve(input_tokens=100), turn.reserve(input_tokens=100)
        if gone:
            for table in LOST:
                run_sql(engine_url, f"DELETE FROM {table}")
        for grant in (again, left):
            with pytest.raises(LedgerUnreachable):
                grant.commit(input_tokens=70)
        answers.lost = False
        again.commit(input_tokens=70)  # and the turn's end repeats the other one
    assert used(worker, session).usage.tokens == 140
    assert spent(worker, session)[0] == (140, 0)
    rows = run_sql(engine_url, "SELECT COUNT(*) FROM grants")
    with session.turn() as turn:
        for _ in range(10):
            turn.reserve(input_tokens=1).commit(input_tokens=1)
    assert used(worker, session).usage.tokens == 150
    assert run_sql(engine_url, "SELECT COUNT(*) FROM grants") == rows


@pytest.mark.parametrize("again", [False, True])
def test_a_reservation_whose_answer_was_lost_is_given_back_by_the_heartbeat(
    engine_url: str, opened: Opened, again: bool
) -> None:
    worker = opened(engine_url, LIMIT, DAILY)
    answers = Unheard(worker, "take")
    session = worker.session("a", source="telegram")
    answers.lost = False
    with session.turn() as turn:
        answers.lost = True
        with pytest.raises(LedgerUnreachable):
            turn.reserve(input_tokens=100)
        answers.lost = False
        if again:  # by the same name
            turn.reserve(input_tokens=10).commit(input_tokens=7)
    worker.membership.tend()
    assert spent(worker, session) == [(7, 0) if again else (0, 0)] * 2


class Unheard:
    """The spending of a worker's ledger, whose answers to one call are lost on their way."""

    def __init__(self, worker: AgentWorker, call: str = "settle") -> None:
        self.lost, self._call = True, call
        ledger = worker._desk.ledger
        self._spending = ledger.spending
        spending: Any = self
        worker._desk = replace(worker._desk, ledger=replace(ledger, spending=spending))

    def __getattr__(self, name: str) -> Any:
        act = getattr(self._spending, name)

        def unheard(*given: Any) -> Any:
            done = act(*given)
            if self.lost:
                raise LedgerUnreachable("the connection was cut")
            return done

        return unheard if name == self._call else act
