"""Agents that spend: budgets that hold, and what happens when they are spent."""

from __future__ import annotations

import asyncio
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

import sexton
from sexton.core.plan import JournalEntry, Reason
from sexton.core.record import replace
from sexton.core.session import Session, State
from sexton.core.usage import Usage
from sexton.errors import (
    BudgetExceeded,
    LedgerBusy,
    PriceUnknown,
    SessionEnded,
    SextonError,
    UsageInvalid,
)
from sexton.finalizers.model import Wanted
from sexton.finalizers.policy import Owing
from sexton.rules.rulebook import Rulebook
from sexton.sessions.agent_session import OpenSession
from sexton.sessions.agent_worker import AgentWorker
from sexton.settings.settings_values import Settings
from sexton.spending.model import Act, Bound, Budget, Meter, Scope, Unit, Who
from sexton.spending.policy import Price, Prices, RunawayPolicy, SpendRules
from sexton.spending.price_table import listed_tariff
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from tests.golden import golden
from tests.scenario.fleet import Machine

CALM = RunawayPolicy(messages=None, tokens=None, tool_calls=None)
Ruled = Callable[..., AgentWorker]


def budget(scope: Scope, unit: Unit, limit: int, action: Act = Act.PAUSE, **more: Any) -> Budget:
    name = f"{scope}.{unit}"
    return Budget(name=name, scope=scope, unit=unit, limit=limit, action=action, **more)


@pytest.fixture
def ruled(engine_url: str, manual_clock: ManualClock) -> Iterator[Ruled]:
    """A worker under budgets."""
    opened: list[Sexton] = []

    def make(*budgets: Budget, **more: Any) -> AgentWorker:
        given: dict[str, Any] = {"budgets": budgets, "runaway": CALM}
        spend = SpendRules(**(given | more))
        rules = Rulebook(spend=spend, finalizers=(Owing(name="log"),))
        house = Sexton(
            open_ledger(engine_url),
            Settings(rulebook=rules),
            clock=manual_clock,
            processes=Machine("host"),
        )
        house.publish()
        opened.append(house)
        return house.worker()

    yield make
    for house in opened:
        house.close()


def call(session: OpenSession, tokens: int, used: int | None = None) -> None:
    with session.turn() as turn:
        grant = turn.reserve(input_tokens=tokens)
        grant.commit(input_tokens=tokens if used is None else used)


def found(worker: AgentWorker, session: OpenSession) -> Session:
    [now] = worker._desk.ledger.index.find("native", session.id)
    return now


def journal(worker: AgentWorker, session: OpenSession) -> list[JournalEntry]:
    ledger = worker._desk.ledger
    return list(reversed(ledger.journal.page(found(worker, session), None, None, 100)))


def test_the_example_of_the_documentation_works(ruled: Ruled) -> None:
    worker = ruled(budget(Scope.SESSION, Unit.TOKENS, 20_000))
    session = worker.session("a", source="telegram")
    with session.turn() as turn:
        grant = turn.reserve(input_tokens=9_000, max_output_tokens=1_000, model="any")
        grant.commit(input_tokens=8_700, output_tokens=450)
        with turn.tool("terminal", {"command": "ls"}) as each:
            each.ok("file")
        assert turn.advice() is None
    usage = found(worker, session).usage
    assert (usage.input_tokens, usage.output_tokens) == (8_700, 450)


def test_a_spent_budget_pauses_and_says_which_how_much_and_until_when(
    ruled: Ruled, manual_clock: ManualClock
) -> None:
    hour = timedelta(hours=1)
    worker = ruled(budget(Scope.TREE, Unit.TOKENS, 100, per=hour))
    session = worker.session("a", source="telegram")
    with session.turn() as turn:
        turn.reserve(input_tokens=60).commit(input_tokens=100)
        with pytest.raises(BudgetExceeded) as caught:
            turn.reserve(input_tokens=1)
    stop = caught.value
    assert (stop.budget, stop.spent, stop.limit) == ("tree.tokens", 100, 100)
    assert stop.until == datetime(2026, 1, 1, 13, 5, tzinfo=UTC)
    assert "429" not in str(stop)
    assert "rate" not in str(stop)
    with pytest.raises(BudgetExceeded):
        call(session, 1)
    assert found(worker, session).is_open
    assert session.append(role="user", content="still heard") == 1
    manual_clock.set(stop.until)
    call(session, 1)


def test_it_is_told_once_that_a_budget_is_nearly_spent_and_once_that_it_is(ruled: Ruled) -> None:
    worker = ruled(budget(Scope.SESSION, Unit.TOKENS, 100))
    session = worker.session("a", source="telegram")
    with session.turn() as turn:
        turn.reserve(input_tokens=79).commit(input_tokens=79)
        assert turn.advice() is None
        turn.reserve(input_tokens=1).commit(input_tokens=1)
        golden("advice", "budget: nearly spent", turn.advice() or "")
        turn.reserve(input_tokens=1).commit(input_tokens=20)
        assert turn.advice() is None
    for _ in range(3):
        with pytest.raises(BudgetExceeded):
            call(session, 1)
    told = [(each.action, each.reason.code) for each in journal(worker, session)]
    assert told == [("warn", "near_budget:session.tokens"), ("pause", "budget:session.tokens")]


def test_where_nobody_is_there_a_pause_kills_and_finalizers_are_owed(ruled: Ruled) -> None:
    worker = ruled(budget(Scope.SESSION, Unit.TOKENS, 100))
    session = worker.session("a", source="cron")
    session.append(role="user", content="go")
    call(session, 100)
    with pytest.raises(BudgetExceeded):
        call(session, 1)
    now = found(worker, session)
    assert (now.state, now.end_reason) == (State.ENDED, "budget:session.tokens")
    [owed] = worker._desk.ledger.finalizing.page(Wanted(session=session.id), None, 9)
    assert owed.finalizer == "log"
    with pytest.raises(SessionEnded):
        session.append(role="assistant", content="more")


def test_a_killed_session_stops_every_turn_at_its_next_call(ruled: Ruled) -> None:
    worker = ruled(budget(Scope.TREE, Unit.TOKENS, 100, Act.KILL))
    parent = worker.session("a", source="telegram")
    child = worker.session(None, source="subagent", parent=parent)
    with parent.turn() as turn:
        turn.reserve(input_tokens=90).commit(input_tokens=100)
        with pytest.raises(BudgetExceeded):
            call(child, 20)
        assert found(worker, child).end_reason == "budget:tree.tokens"
        with pytest.raises(BudgetExceeded):
            turn.reserve(input_tokens=20)
        with pytest.raises(SessionEnded):
            turn.reserve(input_tokens=1)
    assert found(worker, parent).end_reason == "budget:tree.tokens"


def test_a_reset_waits_for_the_end_of_the_turn_and_for_a_pin(ruled: Ruled) -> None:
    worker = ruled(budget(Scope.SESSION, Unit.TOKENS, 100, Act.RESET))
    for pinned in (False, True):
        session = worker.session(f"{pinned}", source="telegram")
        session.pin(pinned)
        with session.turn() as turn:
            turn.reserve(input_tokens=100).commit(input_tokens=100)
            with pytest.raises(BudgetExceeded):
                turn.reserve(input_tokens=1)
            session.append(role="assistant", content="the last word")
        assert found(worker, session).is_open is pinned
    assert worker.session("False", source="telegram").epoch == 1


def test_a_budget_that_warns_refuses_nothing(ruled: Ruled) -> None:
    worker = ruled(budget(Scope.SESSION, Unit.TOKENS, 100, Act.WARN))
    session = worker.session("a", source="telegram")
    call(session, 500)
    with session.turn() as turn:
        golden("advice", "budget: overspent, and only told", turn.advice() or "")


def test_a_budget_of_turns_that_warns_refuses_nothing_either(ruled: Ruled) -> None:
    worker = ruled(budget(Scope.TURN, Unit.TOOL_CALLS, 2, Act.WARN))
    with worker.session("a", source="telegram").turn() as turn:
        told = []
        for number in range(4):
            with turn.tool("t", {"number": number}) as call:
                call.ok("done")
            told.append(turn.advice() or "")
    assert [bool(each) for each in told] == [False, True, False, False]
    golden("advice", "budget: tool calls are spent, and only told", told[1])


@pytest.mark.parametrize(
    ("unit", "spend"),
    [
        (Unit.ITERATIONS, lambda turn: turn.reserve().release()),
        (Unit.TOOL_CALLS, lambda turn: turn.tool("t").__enter__()),
        (
            Unit.OUTPUT,
            lambda turn: turn.reserve(max_output_tokens=1).commit(output_tokens=1),
        ),
        (Unit.CACHED, lambda turn: turn.reserve(cached_tokens=1).commit(cached_tokens=1)),
        (
            Unit.REASONING,
            lambda turn: turn.reserve(reasoning_tokens=1).commit(reasoning_tokens=1),
        ),
    ],
)
@pytest.mark.parametrize("scope", [Scope.SESSION, Scope.SOURCE, Scope.DAY, Scope.TURN])
def test_every_unit_is_bounded_in_every_scope(
    ruled: Ruled, scope: Scope, unit: Unit, spend: Callable[[Any], None]
) -> None:
    worker = ruled(budget(scope, unit, 3))
    session = worker.session("a", source="telegram")
    with session.turn() as turn:
        for _ in range(3):
            spend(turn)
        with pytest.raises(BudgetExceeded):
            spend(turn)


def test_messages_are_counted_when_they_are_stored(ruled: Ruled) -> None:
    for scope in (Scope.SESSION, Scope.TREE, Scope.SOURCE, Scope.DAY):
        worker = ruled(budget(scope, Unit.MESSAGES, 3))
        session = worker.session(f"{scope}", source=f"{scope}")
        session.append(role="user", content="one")
        call(session, 0)
        session.append_many([{"role": "user", "content": "two"}] * 3)
        with pytest.raises(BudgetExceeded) as caught:
            call(session, 0)
        assert caught.value.spent == 4
        assert len(list(session.messages())) == 4


def test_a_message_that_is_not_stored_is_not_counted(ruled: Ruled) -> None:
    worker = ruled(budget(Scope.SOURCE, Unit.MESSAGES, 3))
    session = worker.session("a", source="telegram")
    session.append(role="user", content="one")
    session.end()
    for _ in range(5):
        with pytest.raises(SessionEnded):
            session.append(role="user", content="too late")
    call(worker.session("a", source="telegram"), 0)


def test_time_is_counted_while_a_turn_runs(ruled: Ruled, manual_clock: ManualClock) -> None:
    for scope in (Scope.SESSION, Scope.TURN):
        worker = ruled(budget(scope, Unit.WALL, 60_000))
        session = worker.session(f"{scope}", source="telegram")
        with session.turn() as turn:
            manual_clock.advance(59)
            turn.reserve().release()
            manual_clock.advance(2)
            with pytest.raises(BudgetExceeded), turn.tool("t"):
                pass


def test_a_refused_reservation_charges_no_iteration(ruled: Ruled) -> None:
    tokens = budget(Scope.SESSION, Unit.TOKENS, 100)
    in_turn = budget(Scope.TURN, Unit.TOKENS, 1_000)
    counted = budget(Scope.SESSION, Unit.ITERATIONS, 100, Act.WARN)
    worker = ruled(tokens, in_turn, counted, budget(Scope.TURN, Unit.ITERATIONS, 3))
    session = worker.session("a", source="telegram")
    with session.turn() as turn:
        for too_many in (101, 1_001, 101):  # refused by the session's limit, or by the turn's
            for _ in range(5):
                with pytest.raises(BudgetExceeded):
                    turn.reserve(input_tokens=too_many)
            turn.reserve(input_tokens=1).release()
        assert iterations(worker, session) == 3
        with pytest.raises(BudgetExceeded) as caught:
            turn.reserve(input_tokens=1)
        assert caught.value.budget == "turn.iterations"
    assert iterations(worker, session) == 3


def test_a_reservation_whose_model_turns_out_to_need_a_price_charges_no_iteration(
    ruled: Ruled,
) -> None:
    worker = ruled(budget(Scope.SESSION, Unit.ITERATIONS, 100, Act.WARN))
    session = worker.session("a", source="telegram")
    with session.turn() as turn:
        turn.reserve(input_tokens=1).release()
        cap(worker, session, Unit.USD, 1_000_000)
        for _ in range(5):
            with pytest.raises(PriceUnknown):
                turn.reserve(input_tokens=1)
        assert iterations(worker, session) == 1


def iterations(worker: AgentWorker, session: OpenSession) -> int:
    meter = Meter(Scope.SESSION, str(session._session.ref), Unit.ITERATIONS)
    who = Who(session._session.ref, session._session.ref, "telegram")
    ledger, now = worker._desk.ledger, worker._desk.clock.now()
    [found] = ledger.spending.standing(who, [Bound(meter=meter, budgets=())], now)[:1]
    return found.spent


def cap(worker: AgentWorker, session: OpenSession, unit: Unit, limit: int) -> None:
    """A person gives the session a limit of its own."""
    meter = Meter(Scope.SESSION, str(session._session.ref), unit)
    entry = worker._desk.entry(session._session, "set_budget", Reason("asked", ""))
    own = budget(Scope.SESSION, unit, limit)
    worker._desk.ledger.spending.cap(meter, own, entry, worker._desk.clock.now())


def test_the_iterations_of_one_turn_are_bounded_by_default(ruled: Ruled) -> None:
    worker = ruled(budgets=SpendRules().budgets)
    session = worker.session("a", source="telegram")
    with session.turn() as turn:
        for _ in range(200):
            turn.reserve(input_tokens=1).commit(input_tokens=1)
        with pytest.raises(BudgetExceeded) as caught:
            turn.reserve(input_tokens=1)
    assert caught.value.budget == "turn.iterations"
    golden("budgets", "hint: of a turn", caught.value.hint)
    call(session, 1)


def test_money_is_counted_by_the_price_of_the_model(ruled: Ruled) -> None:
    prices = Prices(models=(("mine", Price(per_input=2.0, per_output=10.0)),))
    worker = ruled(budget(Scope.SESSION, Unit.USD, 1_000_000), prices=prices)
    session = worker.session("a", source="telegram")
    with session.turn() as turn:
        grant = turn.reserve(input_tokens=100_000, max_output_tokens=80_000, model="mine")
        with pytest.raises(BudgetExceeded):
            turn.reserve(input_tokens=1, model="mine")
        grant.commit(input_tokens=100_000, output_tokens=1_000)
        turn.reserve(input_tokens=1, model="mine").release()
    assert found(worker, session).usage.cost_micros == 210_000


class Table:
    """A table of prices in which long calls cost twice as much for each token."""

    def __init__(self) -> None:
        self.is_there = True

    def Usage(self, **usage: int) -> dict[str, int]:  # noqa: N802  # the table's name
        return usage

    def calc_price(self, usage: dict[str, int], **_: str) -> SimpleNamespace:
        if not self.is_there:
            raise LookupError("no such model")
        size = usage["input_tokens"]
        return SimpleNamespace(total_price=size * (2 if size > 1000 else 1) / 1_000_000)


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[Table]:
    made = Table()
    monkeypatch.setitem(sys.modules, "genai_prices", made)
    listed_tariff.cache_clear()
    yield made
    listed_tariff.cache_clear()


def test_a_call_is_reserved_and_counted_at_the_price_of_its_own_size(
    ruled: Ruled, table: Table
) -> None:
    worker = ruled(budget(Scope.SESSION, Unit.USD, 3_000))
    session = worker.session("a", source="telegram")
    with session.turn() as turn:
        with pytest.raises(BudgetExceeded):
            turn.reserve(input_tokens=1_501, model="listed")
        turn.reserve(input_tokens=1_500, model="listed").commit(input_tokens=1_000)
        assert found(worker, session).usage.cost_micros == 1_000
        grant = turn.reserve(input_tokens=600, cached_tokens=400, model="listed")
        table.is_there = False
        grant.commit(input_tokens=600, cached_tokens=400)
    assert found(worker, session).usage.cost_micros == 2_000


def test_a_model_without_a_price_is_an_error_or_costs_what_was_set_for_it(ruled: Ruled) -> None:
    worker = ruled(budget(Scope.SESSION, Unit.USD, 100))
    session = worker.session("a", source="telegram")
    with session.turn() as turn:
        for model in ("nobody-knows-this-model", None):
            with pytest.raises(PriceUnknown):
                turn.reserve(input_tokens=1, model=model)
    priced = ruled(
        budget(Scope.SESSION, Unit.USD, 100),
        prices=Prices(unknown=Price(per_input=60.0, per_output=60.0)),
    )
    session = priced.session("b", source="telegram")
    with session.turn() as turn:
        turn.reserve(input_tokens=1, model="nobody-knows-this-model").commit(input_tokens=1)
        with pytest.raises(BudgetExceeded):
            turn.reserve(input_tokens=1, model="nobody-knows-this-model")
    unbounded = ruled()
    with unbounded.session("c").turn() as turn:
        turn.reserve(input_tokens=1, model="nobody-knows-this-model").commit(input_tokens=1)


@pytest.mark.parametrize(
    "wrong", [-1, 10**12 + 1, pytest.param(10**5000, id="huge"), 1.5, True, None, "9"]
)
def test_numbers_nobody_can_have_used_change_nothing(ruled: Ruled, wrong: Any) -> None:
    worker = ruled(budget(Scope.SESSION, Unit.TOKENS, 100))
    session = worker.session("a", source="telegram")
    with session.turn() as turn:
        with pytest.raises(UsageInvalid):
            turn.reserve(input_tokens=wrong)
        with pytest.raises(UsageInvalid):
            turn.reserve(input_tokens=1, model=["a"])  # type: ignore[arg-type]
        grant = turn.reserve(input_tokens=100)
        with pytest.raises(UsageInvalid):
            grant.commit(output_tokens=wrong)
        grant.commit(input_tokens=7)
    assert found(worker, session).usage.tokens == 7


def test_a_grant_is_settled_once(ruled: Ruled) -> None:
    worker = ruled(budget(Scope.SESSION, Unit.TOKENS, 100))
    session = worker.session("a", source="telegram")
    with session.turn() as turn:
        grant, other = turn.reserve(input_tokens=10), turn.reserve(input_tokens=10)
        grant.commit(input_tokens=10)
        other.release()
        for again in (grant, other):
            with pytest.raises(UsageInvalid):
                again.commit(input_tokens=10)
            with pytest.raises(UsageInvalid):
                again.release()
    assert found(worker, session).usage.tokens == 10


def test_what_a_turn_leaves_unsettled_is_given_back(ruled: Ruled) -> None:
    worker = ruled(budget(Scope.SESSION, Unit.TOKENS, 100))
    session = worker.session("a", source="telegram")
    with pytest.raises(ZeroDivisionError), session.turn() as turn:
        assert len([turn.reserve(input_tokens=100)]) / 0
    call(session, 100)


def test_a_turn_goes_on_spending_where_its_conversation_was_compressed_to(ruled: Ruled) -> None:
    worker = ruled(budget(Scope.TREE, Unit.TOKENS, 100))
    session = worker.session("a", source="telegram")
    for number in range(20):
        session.append(role="user", content=f"{number}")
    with session.turn() as turn:
        turn.reserve(input_tokens=60).commit(input_tokens=60)
        session.compress(lambda _: "summary")
        with pytest.raises(BudgetExceeded):
            turn.reserve(input_tokens=50)
        turn.reserve(input_tokens=40).commit(input_tokens=40)
    assert found(worker, session).usage.tokens == 40


def test_a_person_can_allow_more_at_any_moment(ruled: Ruled, manual_clock: ManualClock) -> None:
    limit = budget(Scope.SESSION, Unit.TOKENS, 100)
    worker = ruled(limit)
    session = worker.session("a", source="telegram")
    call(session, 100)
    with pytest.raises(BudgetExceeded):
        call(session, 1)
    guard, now = session._guarded(), manual_clock.now()
    [bound] = guard.bounds(session._session, now)
    entry = worker._desk.entry(session._session, "raise", journal(worker, session)[0].reason)
    worker._desk.ledger.spending.add(bound, 10, entry, now)
    call(session, 10)
    with pytest.raises(BudgetExceeded):
        call(session, 1)


def test_a_turn_is_used_from_asyncio(ruled: Ruled) -> None:
    worker = ruled(budget(Scope.SESSION, Unit.TOKENS, 100))
    session = worker.session("a", source="telegram")

    async def spend(tokens: int, number: int = 0) -> None:
        async with session.aturn() as turn:
            grant = await turn.reserve(input_tokens=tokens)
            await grant.commit(input_tokens=tokens)
            async with turn.tool("t", {"a": number}) as each:
                await each.ok(f"{number} is fine")
            assert await turn.advice() is None

    async def main() -> None:
        await asyncio.gather(*(spend(10, number) for number in range(7)))
        with pytest.raises(BudgetExceeded):
            await spend(31)

    asyncio.run(main())
    assert found(worker, session).usage.tokens == 70
    assert found(worker, session).turn_count == 8


def test_the_errors_are_importable_from_the_package() -> None:
    assert issubclass(sexton.BudgetExceeded, SextonError)
    assert issubclass(sexton.BreakerOpen, SextonError)


def limit(session: OpenSession, unit: Unit, amount: int, action: Act = Act.PAUSE) -> None:
    """What `sexton budget set` does."""
    desk, own = session._desk, budget(Scope.SESSION, unit, amount, action)
    entry = desk.entry(session._session, "set_budget", Reason("asked", "asked for"))
    meter = Meter(Scope.SESSION, str(session._session.ref), unit)
    desk.ledger.spending.cap(meter, own, entry, desk.clock.now())


@pytest.mark.parametrize("in_turn", [False, True])
@pytest.mark.parametrize(
    ("unit", "amount", "spend"),
    [
        (Unit.ITERATIONS, 3, lambda turn: turn.reserve().release()),
        (Unit.TOOL_CALLS, 2, lambda turn: turn.tool("t").__enter__()),
        (Unit.WALL, 5_000, lambda turn: turn.reserve().release()),
        (Unit.USD, 2, lambda turn: turn.reserve(model="mine").commit(input_tokens=1)),
        (Unit.MESSAGES, 2, lambda turn: turn.reserve().release()),
    ],
)
def test_a_limit_of_a_persons_own_holds_for_every_unit_that_no_setting_counts(
    ruled: Ruled,
    manual_clock: ManualClock,
    in_turn: bool,
    unit: Unit,
    amount: int,
    spend: Callable[[Any], None],
) -> None:
    worker = ruled(prices=Prices(models=(("mine", Price(per_input=1.0, per_output=1.0)),)))
    session = worker.session("a", source="telegram")
    if not in_turn:
        limit(session, unit, amount)
    with session.turn() as turn:
        if in_turn:
            limit(session, unit, amount)

        def step() -> int:
            spend(turn)
            manual_clock.advance(2)
            return session.append(role="assistant", content="more")

        with pytest.raises(BudgetExceeded) as caught:
            [step() for _ in range(9)]
    assert caught.value.budget == f"session.{unit}"


def test_where_a_person_bounds_money_a_model_without_a_price_is_an_error(ruled: Ruled) -> None:
    session = ruled().session("a", source="telegram")
    with session.turn() as turn:
        turn.reserve(input_tokens=1, model="nobody-knows-this-model").release()
        limit(session, Unit.USD, 100)
        with pytest.raises(PriceUnknown):
            turn.reserve(input_tokens=1, model="nobody-knows-this-model")


def test_what_is_only_held_refuses_and_ends_nothing(ruled: Ruled) -> None:
    for scope in (Scope.SESSION, Scope.TURN):
        worker = ruled(budget(scope, Unit.TOKENS, 100, Act.KILL))
        session = worker.session(f"{scope}", source="cron")
        with session.turn() as turn:
            turn.reserve(input_tokens=10).commit(input_tokens=10)
            held = turn.reserve(input_tokens=80)
            with pytest.raises(BudgetExceeded) as caught:
                turn.reserve(input_tokens=20)
            stop = caught.value
            assert (stop.spent, stop.held, stop.asked, stop.limit) == (10, 80, 20, 100)
            held.release()
            with pytest.raises(BudgetExceeded):
                turn.reserve(input_tokens=1_000)
            assert found(worker, session).is_open
            turn.reserve(input_tokens=90).commit(input_tokens=90)
            with pytest.raises(BudgetExceeded):
                turn.reserve(input_tokens=1)
        assert found(worker, session).end_reason == f"budget:{scope}.tokens"


@pytest.mark.parametrize("scope", [Scope.SESSION, Scope.TREE, Scope.DAY, Scope.TURN])
@pytest.mark.parametrize("action", [Act.KILL, Act.RESET, Act.PAUSE])
def test_a_call_that_does_not_fit_into_what_is_left_reaches_the_limit(
    ruled: Ruled, scope: Scope, action: Act
) -> None:
    """Nobody spends a budget to the last token: the last call is refused before."""
    worker = ruled(budget(scope, Unit.TOKENS, 100, action))
    session = worker.session("a", source="telegram")
    with session.turn() as turn:
        turn.reserve(input_tokens=60).commit(input_tokens=60)
        with pytest.raises(BudgetExceeded) as caught:
            turn.reserve(input_tokens=60)
        assert (caught.value.spent, caught.value.limit) == (60, 100)
    ended = None if action is Act.PAUSE else f"budget:{scope}.tokens"
    assert found(worker, session).end_reason == ended


def test_what_a_dead_worker_held_is_there_again_before_anybody_is_refused(ruled: Ruled) -> None:
    worker, other = (ruled(budget(Scope.SOURCE, Unit.TOKENS, 100)) for _ in range(2))
    turn = other.session("a", source="telegram").turn().__enter__()
    turn.reserve(input_tokens=90)
    other.leave()
    call(worker.session("b", source="telegram"), 50)


def test_a_kill_stops_the_processes_of_the_session_and_a_reset_does_not(ruled: Ruled) -> None:
    for action, stopped in ((Act.KILL, True), (Act.RESET, False)):
        worker = ruled(budget(Scope.SESSION, Unit.TOKENS, 100, action))
        stops: list[str] = []

        def stop(each: Session, worker: AgentWorker = worker, stops: list[str] = stops) -> None:
            [now] = worker._desk.ledger.index.find("native", each.id)
            stops.append(now.end_reason or "none yet")
            raise LedgerBusy("somebody else writes")

        worker._desk = replace(worker._desk, stop_processes=stop)
        session = worker.session(f"{action}", source="telegram")
        call(session, 100)
        with pytest.raises(BudgetExceeded):
            call(session, 1)
        assert not found(worker, session).is_open
        assert stops == (["budget:session.tokens"] if stopped else [])


def test_a_tool_is_refused_when_a_budget_was_spent_or_lowered_or_the_session_ended(
    ruled: Ruled,
) -> None:
    worker = ruled(budget(Scope.SESSION, Unit.TOKENS, 100))
    spent, lowered, ended = (worker.session(key, source="telegram") for key in "abc")
    with spent.turn() as turn:
        turn.reserve(input_tokens=10).commit(input_tokens=500)
        with pytest.raises(BudgetExceeded), turn.tool("t"):
            pass
    with lowered.turn() as turn:
        turn.reserve(input_tokens=60).commit(input_tokens=60)
        limit(lowered, Unit.TOKENS, 50, Act.KILL)
        with pytest.raises(BudgetExceeded), turn.tool("t"):
            pass
    assert found(worker, lowered).end_reason == "budget:session.tokens"
    with ended.turn() as turn:
        ended.end("elsewhere")
        with pytest.raises(SessionEnded), turn.tool("t"):
            pass


def test_the_tools_of_the_last_iteration_may_still_run(ruled: Ruled) -> None:
    session = ruled(budget(Scope.SESSION, Unit.ITERATIONS, 1)).session("a", source="telegram")
    with session.turn() as turn:
        turn.reserve(input_tokens=1).commit(input_tokens=1)
        with turn.tool("t"):
            pass
        with pytest.raises(BudgetExceeded):
            turn.reserve(input_tokens=1)


def test_messages_bound_a_turn_that_goes_on(ruled: Ruled) -> None:
    for scope in (Scope.SESSION, Scope.SOURCE):
        worker = ruled(budget(scope, Unit.MESSAGES, 3, Act.KILL))
        session = worker.session(f"{scope}", source="cron")
        with session.turn() as turn:
            for _ in range(3):
                turn.reserve(input_tokens=1).commit(input_tokens=1)
                session.append(role="assistant", content="more")
            with pytest.raises(BudgetExceeded):
                turn.reserve(input_tokens=1)
        assert found(worker, session).end_reason == f"budget:{scope}.messages"


def test_every_handle_of_a_conversation_shares_its_pace_and_its_advice(ruled: Ruled) -> None:
    worker = ruled(
        budget(Scope.SESSION, Unit.TOKENS, 1_000),
        runaway=RunawayPolicy(messages=60, tokens=None, tool_calls=None),
    )
    session = worker.session("a", source="telegram")
    for number in range(20):
        session.append(role="user", content=f"{number}")
    call(session, 900)
    session.compress(lambda _: "summary")
    session.append_many([{"role": "user", "content": "x"}] * 30)
    del session
    worker.session("a", source="telegram").append_many([{"role": "user", "content": "x"}] * 30)
    with pytest.raises(BudgetExceeded) as caught:
        call(worker.session("a", source="telegram"), 1)
    assert caught.value.budget == "runaway.messages"
    assert "900 tokens" in (worker.session("a", source="telegram").turn().advice() or "")


def test_an_error_about_a_budget_survives_pickling(ruled: Ruled) -> None:
    session = ruled(budget(Scope.SESSION, Unit.TOKENS, 10)).session("a", source="telegram")
    with session.turn() as turn, pytest.raises(BudgetExceeded) as caught:
        turn.reserve(input_tokens=11)
    again = pickle.loads(pickle.dumps(caught.value))  # our own
    assert str(again) == str(caught.value)
    assert (again.budget, again.asked, again.limit) == ("session.tokens", 11, 10)


class Slow:
    """A spending port whose named calls wait for a word, and then fail if told to."""

    def __init__(self, inner: Any, name: str, trouble: Exception | None = None) -> None:
        self._inner, self._name, self.trouble = inner, name, trouble
        self.begun, self.go_on = threading.Event(), threading.Event()

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._inner, name)
        if name != self._name:
            return call

        def late(*given: Any, **named: Any) -> Any:
            self.begun.set()
            assert self.go_on.wait(240)
            if self.trouble is not None:
                raise self.trouble
            return call(*given, **named)

        return late


def slowly(worker: AgentWorker, port: str, name: str, trouble: Exception | None = None) -> Slow:
    """Make one call of the worker's ledger wait, or fail."""
    ledger = worker._desk.ledger
    slow = Slow(getattr(ledger, port), name, trouble)
    worker._desk = replace(worker._desk, ledger=replace(ledger, **{port: slow}))
    return slow


@pytest.mark.parametrize(("port", "name"), [("book", "start_turn"), ("spending", "take")])
def test_a_cancelled_task_leaves_no_turn_and_no_grant(ruled: Ruled, port: str, name: str) -> None:
    worker = ruled(budget(Scope.SESSION, Unit.TOKENS, 100))
    slow = slowly(worker, port, name)
    session = worker.session("a", source="telegram")

    async def spend() -> None:
        async with session.aturn() as turn:
            await turn.reserve(input_tokens=100)

    async def main() -> None:
        task = asyncio.create_task(spend())
        assert await asyncio.to_thread(slow.begun.wait, 240)
        for _ in range(3):
            task.cancel()
            await asyncio.sleep(0)
        slow.go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert [each.busy_since for each in found(worker, session).holders] == [None]
    call(session, 100)


def test_usage_is_not_lost_when_the_ledger_is_busy(ruled: Ruled) -> None:
    worker = ruled(budget(Scope.SESSION, Unit.TOKENS, 1_000))
    slow = slowly(worker, "spending", "settle", LedgerBusy("busy"))
    slow.go_on.set()
    session = worker.session("a", source="telegram")
    with session.turn() as turn:
        again, left = turn.reserve(input_tokens=100), turn.reserve(input_tokens=100)
        for grant in (again, left):
            with pytest.raises(LedgerBusy):
                grant.commit(input_tokens=90)
        slow.trouble = None
        again.commit(input_tokens=90)
    assert found(worker, session).usage.tokens == 180
    call(session, 820)


def test_leaving_a_turn_gives_back_whatever_can_be_given_back(ruled: Ruled) -> None:
    worker = ruled(budget(Scope.SESSION, Unit.TOKENS, 1_000))
    session = worker.session("a", source="telegram")
    turn = session.turn().__enter__()
    grant, _ = turn.reserve(input_tokens=500), turn.reserve(input_tokens=500)
    worker._desk.ledger.spending.settle(grant.granted, session._session.ref, {}, Usage())
    turn.__exit__(None, None, None)
    assert session._guarded()._turns == 0
    assert [each.busy_since for each in found(worker, session).holders] == [None]
    call(session, 1_000)


def test_a_grant_is_of_no_use_in_a_forked_child(ruled: Ruled) -> None:
    worker = ruled(budget(Scope.SESSION, Unit.TOKENS, 100))
    session = worker.session("a", source="telegram")
    with session.turn() as turn:
        grant = turn.reserve(input_tokens=100)
        grant._pid += 1
        with pytest.raises(UsageInvalid) as refused:
            grant.commit(input_tokens=100)
        golden("budgets", "refused: a grant in a forked child", str(refused.value))
        grant._pid -= 1
        grant.commit(input_tokens=100)


def test_a_turn_is_of_use_only_while_it_runs_and_only_in_its_own_process(ruled: Ruled) -> None:
    turn = ruled().session("a", source="telegram").turn()
    for _ in range(2):
        with pytest.raises(UsageInvalid) as refused:
            turn.reserve(input_tokens=1)
        golden("budgets", "refused: a turn that has not begun", str(refused.value))
        with pytest.raises(UsageInvalid) as refused:
            turn.tool("t")
        golden("budgets", "refused: a turn that has not begun", str(refused.value))
        with turn:
            turn._pid += 1
            with pytest.raises(UsageInvalid) as refused:
                turn.reserve(input_tokens=1)
            golden("budgets", "refused: a turn in a forked child", str(refused.value))
            turn._pid -= 1
            turn.reserve(input_tokens=1).release()


def told(worker: AgentWorker, session: OpenSession) -> list[str]:
    return [each.reason.code for each in journal(worker, session)]


def test_a_turn_is_begun_and_ended_once(ruled: Ruled) -> None:
    worker = ruled(budget(Scope.SESSION, Unit.TOKENS, 100, Act.RESET))
    session = worker.session("a", source="telegram")
    with session.turn() as turn:
        with pytest.raises(UsageInvalid) as refused:
            turn.__enter__()
        golden("budgets", "refused: a turn that runs already", str(refused.value))
        turn.reserve(input_tokens=10).commit(input_tokens=10)
        with turn.tool("t") as once:
            once.ok()
        with pytest.raises(UsageInvalid) as refused:
            once.__enter__()
        golden("budgets", "refused: a call that is over", str(refused.value))
    for _ in range(2):
        turn.__exit__(None, None, None)
    assert session._guarded()._turns == 0
    assert [each.busy_since for each in found(worker, session).holders] == [None]
    with turn:  # what is over can be begun again
        turn.reserve(input_tokens=90).commit(input_tokens=90)
        with pytest.raises(BudgetExceeded):
            turn.reserve(input_tokens=1)
    assert found(worker, session).end_reason == "budget:session.tokens"
    for _ in range(2):
        with pytest.raises(SessionEnded):
            turn.__enter__()


def test_each_budget_warns_and_again_when_it_is_spent_and_in_the_next_span(
    ruled: Ruled, manual_clock: ManualClock
) -> None:
    soft = replace(
        budget(Scope.SESSION, Unit.TOKENS, 100, Act.WARN, per=timedelta(hours=1)), name="soft"
    )
    hard = replace(soft, name="hard", limit=110, action=Act.PAUSE)
    worker = ruled(soft, hard)
    session = worker.session("a", source="telegram")
    for _ in range(2):
        words = []
        with session.turn() as turn:
            for tokens in (90, 10, 1):
                turn.reserve(input_tokens=tokens).commit(input_tokens=tokens)
                words.append(turn.advice() or "")
        assert [len(each.splitlines()) for each in words] == [2, 0, 1]
        golden("advice", "two budgets, nearly spent and spent", "\n".join(words))
        manual_clock.advance(7200)
    assert told(worker, session).count("near_budget:soft") == 2
    assert told(worker, session).count("near_budget:hard") == 2


def test_a_budget_of_turns_is_told_of_before_it_is_spent_and_noted_once_when_it_is(
    ruled: Ruled,
) -> None:
    worker = ruled(budget(Scope.TURN, Unit.ITERATIONS, 5))
    session = worker.session("a", source="telegram")
    with session.turn() as turn:
        for _ in range(4):
            assert turn.advice() is None
            turn.reserve().release()
        golden("advice", "budget: iterations are nearly spent", turn.advice() or "")
        turn.reserve().release()
        for _ in range(3):
            with pytest.raises(BudgetExceeded):
                turn.reserve()
    assert told(worker, session) == ["budget:turn.iterations"]


def test_a_reset_waits_for_the_turns_of_other_workers(ruled: Ruled) -> None:
    limits = budget(Scope.SESSION, Unit.TOKENS, 100, Act.RESET)
    worker, other = ruled(limits), ruled(limits)
    session, theirs = (each.session("a", source="telegram") for each in (worker, other))
    with session.turn() as turn:
        turn.reserve(input_tokens=100).commit(input_tokens=100)
        with pytest.raises(BudgetExceeded):
            call(theirs, 1)
        session.append(role="assistant", content="the answer")
    with pytest.raises(BudgetExceeded):
        call(theirs, 1)
    assert found(worker, session).end_reason == "budget:session.tokens"
