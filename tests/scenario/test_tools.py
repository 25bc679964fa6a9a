"""Tools that fail, repeat themselves or go round in circles, in one session of an agent."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import count, islice
from pathlib import Path
from typing import Any

import pytest

from sexton.errors import BreakerOpen, BudgetExceeded, SessionEnded
from sexton.sessions.agent_session import OpenSession
from sexton.settings.settings_values import Settings
from sexton.spending.digests import digest, digest_of_arguments
from sexton.spending.policy import BreakerPolicy
from sexton.spending.tool_watch import ToolCall, ToolWatch
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from tests.contract.ledger_contract_samples import race
from tests.golden import golden

Open = Callable[..., OpenSession]
NUMBERS = count()


@pytest.fixture
def session_of(tmp_path: Path, manual_clock: ManualClock) -> Iterator[Open]:
    """A session of a source, in a process of its own each time."""
    houses: list[Sexton] = []

    def make(source: str = "telegram", key: str = "a") -> OpenSession:
        ledger = open_ledger(str(tmp_path / "ledger.db"))
        house = Sexton(ledger, Settings(), clock=manual_clock)
        houses.append(house)
        return house.worker().session(key, source=source)

    yield make
    for house in houses:
        house.close()


def fail(turn: Any, times: int, name: str = "terminal") -> list[str]:
    """The advice after each of so many different failures."""
    told = []
    for number in islice(NUMBERS, times):
        with turn.tool(name, {"number": number}) as call:
            call.error(f"no such file: {number}")
        told.append(turn.advice() or "")
    return told


def test_failures_in_a_row_are_told_at_three_six_and_nine_and_then_tools_stop(
    session_of: Open, manual_clock: ManualClock
) -> None:
    with session_of().turn() as turn:
        told = fail(turn, 9)
        assert [place + 1 for place, words in enumerate(told) if words] == [3, 6, 9]
        with pytest.raises(BreakerOpen) as caught, turn.tool("terminal"):
            pass
        assert caught.value.until == manual_clock.now() + timedelta(seconds=60)
        manual_clock.advance(60)
        with turn.tool("terminal", "ls") as call:
            call.ok("a")
        assert fail(turn, 2) == ["", ""]


def test_a_success_between_failures_begins_anew(session_of: Open) -> None:
    with session_of().turn() as turn:
        for _ in range(10):
            assert fail(turn, 2) == ["", ""]
            with turn.tool("terminal", next(NUMBERS)) as call:
                call.ok(next(NUMBERS))


def test_an_attended_session_pauses_and_an_unattended_one_ends(session_of: Open) -> None:
    for source, is_open in (("telegram", True), ("cron", False)):
        session = session_of(source, source)
        ledger = session._desk.ledger
        with session.turn() as turn:
            fail(turn, 9)
            with pytest.raises(BreakerOpen), turn.tool("t"):
                pass
            if not is_open:
                with pytest.raises(SessionEnded):
                    turn.reserve(input_tokens=1)
        [now] = ledger.index.find("native", session.id)
        assert now.is_open is is_open
        [entry] = ledger.journal.page(now, None, None, 9)
        assert entry.reason.code == "breaker:tool_errors"
        assert entry.action == ("pause" if is_open else "end")


def test_five_hundred_identical_calls_are_stopped_at_the_ninth(session_of: Open) -> None:
    def search(turn: Any) -> None:
        with turn.tool("search", {"q": "same"}) as call:
            call.ok("nothing found")

    with session_of().turn() as turn:
        for _ in range(9):
            search(turn)
        with pytest.raises(BreakerOpen):
            search(turn)


def test_the_names_of_arguments_have_no_order(session_of: Open) -> None:
    told = []
    with session_of().turn() as turn:
        for arguments in ({"a": 1, "b": 2}, {"b": 2, "a": 1}, '{"b": 2,\n "a": 1}'):
            with turn.tool("t", arguments) as call:
                call.ok("same")
            told.append(turn.advice())
    assert told[:2] == [None, None]
    golden("advice", "tools: a call for the third time", told[2] or "")


def test_cycles_are_told_and_stopped_and_progress_is_neither(session_of: Open) -> None:
    def use(turn: Any, name: str) -> None:
        with turn.tool(name, {}) as call:
            call.ok(f"{name} did what it does")

    with session_of().turn() as turn:
        for name in ("read", "edit", "test") * 9:
            use(turn, name)
        golden("advice", "tools: a cycle of three", turn.advice() or "")
        with pytest.raises(BreakerOpen):
            use(turn, "read")
    with session_of(key="b").turn() as turn:
        for number in range(60):
            with turn.tool("read", {}) as call:
                call.ok(f"line {number}")
        assert turn.advice() is None


def test_an_error_in_the_block_is_the_tools_and_a_cancelled_call_is_nobodys(
    session_of: Open,
) -> None:
    with session_of().turn() as turn:
        for number in range(3):
            with pytest.raises(ZeroDivisionError), turn.tool("t", number):
                raise ZeroDivisionError(f"{number}")
        golden("advice", "tools: three failures", turn.advice() or "")
        for number in range(9):
            with pytest.raises(KeyboardInterrupt), turn.tool("t", number):
                raise KeyboardInterrupt
        assert turn.advice() is None


def test_the_first_word_about_a_call_counts(session_of: Open) -> None:
    with session_of().turn() as turn:
        for number in range(5):
            with turn.tool("t", number) as call:
                call.ok(f"{number}")
                call.error("no")
        assert turn.advice() is None


def test_another_process_goes_on_where_the_last_turn_ended(
    session_of: Open, manual_clock: ManualClock
) -> None:
    with session_of().turn() as turn:
        fail(turn, 8)
    with session_of().turn() as turn:
        golden("advice", "tools: nine failures", fail(turn, 1)[0])
    manual_clock.advance(30)
    with session_of().turn() as turn:
        with pytest.raises(BreakerOpen), turn.tool("t"):
            pass
        manual_clock.advance(30)
        with turn.tool("t"):
            pass
    with session_of().turn() as turn:
        assert fail(turn, 2) == ["", ""]


def test_a_repetition_goes_on_over_turns_and_processes(session_of: Open) -> None:
    for _ in range(2):
        with session_of().turn() as turn, turn.tool("t", "x") as call:
            call.ok("same")
    with session_of().turn() as turn:
        with turn.tool("t", "x") as call:
            call.ok("same")
        assert "repetition 3" in (turn.advice() or "")


class Nobody:
    """Somebody who is told and does nothing."""

    def __init__(self) -> None:
        self.stops: list[str] = []

    def before_tool(self) -> None: ...

    def tell(self, advice: str) -> None: ...

    def stopped(self, code: str, why: str) -> None:
        assert why
        self.stops.append(code)


def test_errors_of_many_threads_are_counted_exactly(manual_clock: ManualClock) -> None:
    policy = BreakerPolicy(warn_at=(64 * 25,))
    watch, by = ToolWatch(manual_clock, lambda: policy), Nobody()

    def work() -> None:
        for number in range(25):
            with ToolCall(watch, by, "t", (threading.get_ident(), number)) as call:
                call.error(f"{threading.get_ident()} {number}")

    race([work] * 64)
    assert by.stops == ["tool_errors"]
    assert watch._breaker.errors == 64 * 25


def test_of_64_threads_one_tries_again(manual_clock: ManualClock) -> None:
    watch, by = ToolWatch(manual_clock, BreakerPolicy), Nobody()
    for number in range(9):
        with ToolCall(watch, by, "t", number) as call:
            call.error(f"{number}")
    for _ in range(20):
        manual_clock.advance(60)

        def probe() -> bool:
            try:
                ToolCall(watch, by, "t", None).__enter__()
            except BreakerOpen:
                return False
            return True

        assert sum(race([probe] * 64)) == 1


def test_large_strange_and_secret_values_leave_only_a_digest(session_of: Open) -> None:
    large = {"text": "x" * 10_000_000, "bytes": b"\0" * 9}
    circle: list[Any] = []
    circle.append(circle)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    strange = [large, circle, deep, {1: 2, "a": 3}, object(), float("nan"), "\ud800", b"\xff", None]
    session = session_of()
    with session.turn() as turn:
        for value in strange:
            with turn.tool("t", value) as call:
                call.ok(value)
            assert len(digest(value)) <= 24
    stored = session._desk.ledger.spending.snapshot(session._session.ref)
    assert stored is not None
    assert len(stored) < 1000
    assert "xxx" not in stored


def test_equal_values_have_equal_digests() -> None:
    assert digest_of_arguments('{"a": 1}') == digest_of_arguments({"a": 1})
    assert digest_of_arguments("{broken") == digest("{broken")
    assert digest(object()) == digest(object())
    assert digest("a") != digest("b")


def test_a_rate_of_tool_calls_is_a_loop(session_of: Open, manual_clock: ManualClock) -> None:
    with session_of().turn() as turn:
        for number in range(120):
            manual_clock.advance(0.1)
            with turn.tool("t", number) as call:
                call.ok(f"{number}")
        with pytest.raises(BudgetExceeded) as caught, turn.tool("t"):
            pass
    assert caught.value.budget == "runaway.tool_calls"
    assert "runaway" in caught.value.hint


def test_handles_of_one_session_in_a_process_share_its_breaker(session_of: Open) -> None:
    first = session_of()
    second = OpenSession(first._desk, first._opening)
    with first.turn() as turn, second.turn() as other:
        fail(turn, 5)
        golden("advice", "tools: six failures", fail(other, 1)[0])
        fail(turn, 3)
        with pytest.raises(BreakerOpen), other.tool("t"):
            pass


def test_many_different_calls_with_one_short_result_end_nothing(session_of: Open) -> None:
    session = session_of("cron")
    told = []
    with session.turn() as turn:
        for number in range(60):
            with turn.tool("mkdir", {"path": number}) as call:
                call.ok("ok")
            told.append(turn.advice())
        for number in range(40):
            with turn.tool("touch", number):
                pass
    assert len(list(filter(None, told))) == 3
    assert turn.advice() is None
    [now] = session._desk.ledger.index.find("native", session.id)
    assert now.is_open


def test_a_call_from_before_does_not_decide_whether_tools_are_stopped(
    manual_clock: ManualClock,
) -> None:
    watch, by = ToolWatch(manual_clock, BreakerPolicy), Nobody()
    early, late = (ToolCall(watch, by, "t", name).__enter__() for name in ("early", "late"))
    for number in range(9):
        with ToolCall(watch, by, "t", number) as call:
            call.error(f"{number}")
    early.ok("at last")
    with pytest.raises(BreakerOpen):
        ToolCall(watch, by, "t", None).__enter__()
    manual_clock.advance(60)
    probe = ToolCall(watch, by, "t", "probe").__enter__()
    late.error("too late")
    with pytest.raises(BreakerOpen):
        ToolCall(watch, by, "t", None).__enter__()
    probe.ok("works")
    with ToolCall(watch, by, "t", None) as call:
        call.ok("again")


class Hostile:
    """A value that can not be looked at."""

    def __repr__(self) -> str:
        raise KeyError("no")

    __str__ = __repr__


def test_a_value_that_can_not_be_looked_at_has_a_digest() -> None:
    deep = "[" * 60_000
    strided = memoryview(bytearray(100))[::3]
    for value in (Hostile(), [Hostile()], {"a": Hostile()}, deep, strided, float):
        assert len(digest(value)) == 24
        assert digest_of_arguments(value) == digest(value)


def test_an_error_that_can_not_be_shown_is_an_error_and_sextons_own_is_none(
    session_of: Open,
) -> None:
    class Unsaid(Exception):
        __str__ = __repr__ = Hostile.__repr__

    with session_of().turn() as turn:
        for number in range(3):
            with pytest.raises(Unsaid), turn.tool("t", number):
                raise Unsaid
        golden("advice", "tools: three failures", turn.advice() or "")
        for number in range(9):
            with pytest.raises(SessionEnded), turn.tool("u", number):
                raise SessionEnded("it ended")
        assert turn.advice() is None


@pytest.mark.parametrize(
    "damaged", ["[1,2]", "{", "7", '["x",[],null,"",[[],[0,0,0,0,0],0,0]]', "[0,[],{},0,[[1],[]]]"]
)
def test_of_a_damaged_memory_of_tools_nothing_is_known(session_of: Open, damaged: str) -> None:
    session = session_of()
    desk = session._desk
    session.turn().__enter__()
    desk.ledger.book.finish_turn(session._session, desk.worker, False, damaged)
    with session_of().turn() as turn:
        assert fail(turn, 2) == ["", ""]
