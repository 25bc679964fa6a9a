"""A turn ends although the ledger is away: nothing is hidden, and nobody stays busy."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest

from sexton.core.record import replace
from sexton.core.session import Session
from sexton.errors import LedgerError, LedgerUnreachable
from sexton.liveness.policy import LivenessPolicy
from sexton.rules.rulebook import Rulebook
from sexton.sessions.agent_session import OpenSession
from sexton.sessions.agent_worker import AgentWorker
from sexton.sessions.turns import catch_up
from sexton.settings.settings_values import Settings
from sexton.spending.store import LedgerSpending
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from tests.crash.impatience import impatient
from tests.kit.postgres_server import PostgresServer
from tests.scenario.fleet import Machine

PATIENCE = 240.0
AWAY = 2.0
"""Seconds after which a call to a server that is away is given up."""

Opened = Callable[..., AgentWorker]


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    with PostgresServer() as own:
        yield own


@pytest.fixture
def opened() -> Iterator[Opened]:
    houses: list[Sexton] = []

    def make(url: str, beat_every: timedelta) -> AgentWorker:
        liveness = LivenessPolicy(beat_every=beat_every, ttl=timedelta(hours=6))
        house = Sexton(
            open_ledger(url, patience=PATIENCE),
            Settings(rulebook=Rulebook(liveness=liveness)),
            clock=ManualClock(),
            processes=Machine("host"),
        )
        house.publish()
        houses.append(house)
        return house.worker()

    yield make
    for house in houses:
        within_patience(lambda house=house: house.close() or True)  # type: ignore[misc]


def within_patience(is_so: Callable[[], object]) -> None:
    """Wait for something in the ledger, which may be away."""
    give_up = time.monotonic() + PATIENCE
    while True:
        try:
            if is_so():
                return
        except LedgerError:
            pass
        assert time.monotonic() < give_up
        time.sleep(0.02)


def found(worker: AgentWorker, session: OpenSession) -> Session:
    [now] = worker._desk.ledger.index.find("native", session.id)
    return now


def is_at_rest(worker: AgentWorker, session: OpenSession) -> bool:
    return [each.busy_since for each in found(worker, session).holders] == [None]


@pytest.mark.postgres
def test_a_server_that_stops_at_the_end_of_a_turn_leaves_no_session_busy(
    server: PostgresServer, opened: Opened
) -> None:
    worker = opened(server.create_database(), timedelta(milliseconds=50))
    session = worker.session("a", source="telegram")

    def answer() -> str:
        with session.turn() as turn:
            grant = turn.reserve(input_tokens=100)
            server.stop()
            with pytest.raises(LedgerError):
                grant.commit(input_tokens=70)
            return "the answer"

    with impatient(worker._desk.ledger, AWAY):
        assert answer() == "the answer"
        assert not list(worker._desk.turns)
        server.start()
    within_patience(lambda: is_at_rest(worker, session))
    within_patience(lambda: found(worker, session).usage.tokens == 70)
    with session.turn():
        assert not is_at_rest(worker, session)
    assert is_at_rest(worker, session)


@pytest.mark.postgres
def test_the_error_of_a_turn_is_not_hidden_by_that_of_its_ledger(
    server: PostgresServer, opened: Opened
) -> None:
    worker = opened(server.create_database(), timedelta(milliseconds=50))
    session = worker.session("a", source="telegram")

    def fail() -> None:
        with session.turn():
            server.stop()
            raise ZeroDivisionError

    with impatient(worker._desk.ledger, AWAY):
        with pytest.raises(ZeroDivisionError):
            fail()
        server.start()
    within_patience(lambda: is_at_rest(worker, session))
    within_patience(lambda: found(worker, session).errored)


@pytest.mark.parametrize("arrives", [False, True])
def test_turns_beside_one_whose_end_was_not_heard_stay_as_they_are(
    engine_url: str, opened: Opened, arrives: bool
) -> None:
    worker = opened(engine_url, timedelta(hours=1))
    book = Unheard(worker, arrives=arrives)
    session = worker.session("a", source="telegram")
    ref = session._session.ref
    with session.turn():
        with session.turn():
            book.is_unheard = True
        assert worker._desk.ledger.workers.busy(worker.id) == {ref: 1}  # corrected at once
        book.is_unheard = False
        catch_up(worker._desk.turns, worker._desk.ledger.workers, worker.id)
        assert worker._desk.ledger.workers.busy(worker.id) == {ref: 1}
    assert worker._desk.ledger.workers.busy(worker.id) == {}


class Unheard:
    """The book of a worker's ledger, to which the ends of turns get lost, or their answers."""

    def __init__(self, worker: AgentWorker, *, arrives: bool) -> None:
        self.is_unheard = False
        self._arrives = arrives
        ledger = worker._desk.ledger
        self._book = ledger.book
        book: Any = self
        worker._desk = replace(worker._desk, ledger=replace(ledger, book=book))

    def finish_turn(self, *given: Any) -> bool:
        if not self.is_unheard:
            return self._book.finish_turn(*given)
        if self._arrives:
            self._book.finish_turn(*given)
        raise LedgerUnreachable("the connection was cut")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._book, name)


@pytest.mark.parametrize("how", ["leave", "close"])
def test_use_that_the_ledger_did_not_hear_is_counted_before_its_worker_leaves(
    engine_url: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle, is_away = LedgerSpending.settle, True

    def settle_if_there(*given: Any) -> None:
        if is_away:
            raise LedgerUnreachable("the ledger is away")
        settle(*given)

    monkeypatch.setattr(LedgerSpending, "settle", settle_if_there)
    house = Sexton(open_ledger(engine_url), Settings())
    worker = house.worker()
    session = worker.session("a", source="telegram")
    with session.turn() as turn:
        grant = turn.reserve(input_tokens=100)
        with pytest.raises(LedgerUnreachable):
            grant.commit(input_tokens=70)
    is_away = False
    if how == "leave":
        worker.leave()
    house.close()
    with closing(open_ledger(engine_url)) as ledger:
        [after] = ledger.index.find("native", session.id)
    assert after.usage.tokens == 70
