"""End-of-session work: owed whatever ended the session, done once, and never in anybody's way."""

from __future__ import annotations

import itertools
import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sexton.core.clock import SystemClock
from sexton.core.machine_ports import Clock
from sexton.core.session import State
from sexton.errors import BudgetExceeded
from sexton.finalizers.job import Job
from sexton.finalizers.policy import RetryPolicy
from sexton.finalizers.runner import Duty, Runner
from sexton.sessions.agent_worker import AgentWorker
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from sexton.wiring.duties import duties
from tests.golden import golden
from tests.scenario.effects_server import Server, reply, say
from tests.scenario.finalizers_scene import (
    Thinking,
    configure,
    memory,
    open_house,
    owed,
    remembered,
    states,
    talk,
    wait_until,
    webhook,
)
from tests.surface.holding import holder

LIMIT = {"max_messages": 6}
BUDGET = {"scope": "session", "tokens": 100, "action": "kill"}


@pytest.fixture
def model() -> Iterator[Server]:
    """An endpoint that answers at once; a test may change its replies."""
    with Server([say("- likes the sea")]) as server:
        yield server


@pytest.fixture
def house(
    engine_url: str, tmp_path: Path, model: Server, manual_clock: ManualClock
) -> Iterator[Sexton]:
    """A house whose sessions owe a memory."""
    config = configure(tmp_path, memory(model.url, concurrency=2), reset=LIMIT, budgets=[BUDGET])
    with open_house(engine_url, config, manual_clock) as opened:
        yield opened


def _end(worker: AgentWorker, _: Sexton) -> None:
    session = worker.session("a", source="telegram")
    session.append_many([{"role": "user", "content": "x"}] * 4)
    assert session.end()


def _reset(worker: AgentWorker, _: Sexton) -> None:
    session = worker.session("a", source="telegram")
    session.append_many([{"role": "user", "content": "x"}] * 4)
    session.reset()


def _leave(worker: AgentWorker, _: Sexton) -> None:
    session = worker.session("a", source="cli")
    session.append_many([{"role": "user", "content": "x"}] * 4)
    worker.leave()


def _expire(worker: AgentWorker, _: Sexton) -> None:
    session = worker.session("a", source="telegram")
    session.append_many([{"role": "user", "content": "x"}] * 6)


def _expire_unwatched(worker: AgentWorker, house: Sexton) -> None:
    _expire(worker, house)
    worker.session("a", source="telegram")


def _branch(worker: AgentWorker, _: Sexton) -> None:
    session = worker.session("a", source="telegram")
    session.append_many([{"role": "user", "content": "x"}] * 4)
    worker.session(parent=session, relation="branch").append(role="user", content="x")
    assert session.end("branched")


def _resume_another(worker: AgentWorker, _: Sexton) -> None:
    another = worker.session("b", source="telegram")
    session = worker.session("a", source="telegram")
    session.append_many([{"role": "user", "content": "x"}] * 4)
    worker.resume(another.id)
    assert session.end("resumed_other")


def _overspend(worker: AgentWorker, _: Sexton) -> None:
    session = worker.session("a", source="telegram")
    session.append_many([{"role": "user", "content": "x"}] * 4)
    with session.turn() as turn:
        turn.reserve(input_tokens=90).commit(input_tokens=100)
        with pytest.raises(BudgetExceeded):
            turn.reserve(input_tokens=1)
    assert not session.end()


@pytest.mark.parametrize(
    "way",
    [_end, _reset, _leave, _expire, _expire_unwatched, _branch, _resume_another, _overspend],
)
def test_whatever_ends_a_session_its_work_is_done_once(
    way: Callable[[AgentWorker, Sexton], None], house: Sexton, model: Server, tmp_path: Path
) -> None:
    way(house.worker(), house)
    house.sweep()
    house.sweep()
    [done] = owed(house)
    assert (done.state, done.attempts) == ("done", 1)
    assert remembered(tmp_path) == [done.key]
    assert len(model.requests) == 1
    assert house.find(done.session).state is State.FINALIZED


def test_the_work_of_a_session_whose_process_was_killed_is_done(
    engine_url: str, tmp_path: Path, model: Server
) -> None:
    config = configure(tmp_path, memory(model.url, min_messages=1))
    with open_house(engine_url, config) as house, holder(engine_url, "a", "cli") as (process, id):
        process.kill()
        process.wait()
        house.sweep()
        assert [each.session for each in owed(house)] == [id]
        assert house.find(id).end_reason == "reaped:process_gone"
        assert len(remembered(tmp_path)) == 1


def test_what_is_too_short_or_was_said_by_a_timer_owes_no_memory(
    house: Sexton, model: Server
) -> None:
    talk(house, "short", count=3)
    talk(house, "timer", source="cron")
    house.sweep()
    assert owed(house) == []
    assert model.requests == []


def test_a_timers_session_that_ends_with_its_process_owes_whoever_names_timers(
    engine_url: str, tmp_path: Path, model: Server
) -> None:
    hook = webhook(model.url)
    config = configure(tmp_path, memory(model.url, sources=["cron"]), hook)
    with open_house(engine_url, config) as house:
        with house.worker() as worker:
            session = worker.session(source="cron", job="nightly")
            session.append_many([{"role": "user", "content": "x"}] * 4)
        house.sweep()
        assert {(each.finalizer, each.state) for each in owed(house)} == {
            ("memories", "done"),
            ("hook", "done"),
        }


def test_why_tells_what_was_owed_and_why_nothing_is(
    engine_url: str, tmp_path: Path, model: Server
) -> None:
    def answers(house: Sexton, id: str) -> dict[str, tuple[str, str]]:
        found = house.why(id).answers
        told = ((each.question, (each.answer, each.detail)) for each in found)
        return {name: told for name, told in told if name.startswith("finalizer.")}

    config = configure(tmp_path)
    with open_house(engine_url, config) as house:
        [old] = talk(house, "old")
    failing = {"name": "log", "kind": "command", "command": ["false"], "sources": ["telegram"]}
    config = configure(tmp_path, memory(model.url), failing, serve={"messages": True})
    with open_house(engine_url, config) as house:
        [long] = talk(house, "long")
        [short] = talk(house, "short", count=3, source="discord")
        house.sweep()
        told = answers(house, long)
        before = answers(house, old)["finalizer.log"]
        none = answers(house, short)
    memories, log = told["finalizer.memories"], told["finalizer.log"]
    assert (memories[0], log[0]) == ("done", "pending")
    unowed = [before, none["finalizer.memories"], none["finalizer.log"]]
    [nothing] = {answer for answer, _ in unowed}
    golden("why", "finalizers: the answer where nothing is owed", nothing)
    golden("why", "finalizers: done", memories[1])
    golden("why", "finalizers: tried again", log[1])
    golden("why", "finalizers: nothing owed", "\n".join(detail for _, detail in unowed))


def test_a_restart_does_nothing_for_what_is_done_and_the_next_end_is_handled_in_one_sweep(
    engine_url: str, tmp_path: Path, model: Server, caplog: pytest.LogCaptureFixture
) -> None:
    config = configure(tmp_path, memory(model.url, concurrency=8), reset=LIMIT)
    with open_house(engine_url, config) as house:
        talk(house, *map(str, range(50)))
        assert house.sweep().finalizing == 50
    assert len(model.requests) == len(remembered(tmp_path)) == 50
    with caplog.at_level(logging.INFO, "sexton"), open_house(engine_url, config) as house:
        assert house.sweep().finalizing == 0
        assert (len(model.requests), caplog.records) == (50, [])
        _expire(house.worker(), house)
        house.sweep()
        assert len(model.requests) == len(remembered(tmp_path)) == 51
        assert states(house) == {"done": 51}


def test_sessions_end_and_are_reaped_while_a_flush_takes_its_time(
    engine_url: str, tmp_path: Path
) -> None:
    slow = Thinking.held()
    with Server([slow]) as model:
        config = configure(tmp_path, memory(model.url), reset=LIMIT, keeper={"sweep_every": "1s"})
        with open_house(engine_url, config) as house, house.worker() as worker:
            house.keep()
            talk(house, "slow")
            model.wait_for(1)
            expired = worker.session("a", source="telegram")
            expired.append_many([{"role": "user", "content": "x"}] * 6)
            wait_until(lambda: not house.find(expired.id).is_open)
            with holder(engine_url, "b", "cli") as (process, reaped):
                os.kill(process.pid, signal.SIGKILL)
                wait_until(lambda: house.find(reaped).end_reason == "reaped:process_gone")
            wait_until(lambda: slow.most == 2)
            assert states(house) == {"running": 2}
            slow.gate.set()
            wait_until(lambda: states(house) == {"done": 2})
    assert len(model.requests) == 2


def test_no_more_than_allowed_run_at_the_same_time(engine_url: str, tmp_path: Path) -> None:
    one, other = Thinking(0.05, together=2), Thinking(0.05, reply())
    with Server([one]) as model, Server([other]) as server:
        config = configure(
            tmp_path,
            memory(model.url, concurrency=3),
            webhook(server.url, concurrency=2),
            keeper={"finalizers_at_once": 4},
        )
        with open_house(engine_url, config) as house:
            talk(house, *map(str, range(12)))
            house.sweep()
            assert states(house) == {"done": 24}
    assert one.most in (2, 3)
    assert other.most in (1, 2)


def test_the_defaults_of_each_kind_act_in_a_keeper(
    engine_url: str, tmp_path: Path, manual_clock: ManualClock
) -> None:
    slow = Thinking(0.05, together=4)
    with Server([slow]) as model, Server([reply()]) as server:
        command = {"name": "c", "kind": "command", "command": ["true"]}
        config = configure(tmp_path, memory(model.url), webhook(server.url), command)
        with open_house(engine_url, config, manual_clock) as house:
            ready = duties(house.settings, manual_clock, {})
            today = manual_clock.now().date()
            assert house.ledger.finalizing.spend("memories", today, 494, 500)
            talk(house, *map(str, range(7)))
            house.sweep()
            late = [each for each in owed(house) if each.state != "done"]
    assert slow.most == 4
    [waits] = late
    golden("finalizers", "waits: no calls left today", waits.last_error or "")
    effects: list[Any] = [ready[name].effect for name in ("memories", "hook", "c")]
    spans = [each._plan.timeout for each in (effects[0]._chat, *effects[1:])]
    assert spans == [timedelta(minutes=5), timedelta(minutes=1), timedelta(minutes=1)]


def test_more_than_the_rate_waits_and_is_no_failure(
    engine_url: str, tmp_path: Path, model: Server, manual_clock: ManualClock
) -> None:
    config = configure(tmp_path, memory(model.url, per_minute=3))
    with open_house(engine_url, config, manual_clock) as house:
        talk(house, *map(str, range(6)))
        house.sweep()
        assert states(house) == {"done": 3, "pending": 3}
        manual_clock.advance(20)
        house.sweep()
        assert states(house) == {"done": 4, "pending": 2}
        manual_clock.advance(60)
        house.sweep()
        assert {each.attempts for each in owed(house)} == {1}
        assert states(house) == {"done": 6}


def test_what_the_calls_of_a_day_do_not_suffice_for_is_done_the_next_day(
    engine_url: str, tmp_path: Path, model: Server, manual_clock: ManualClock
) -> None:
    config = configure(tmp_path, memory(model.url, daily_calls=2, attempts=1))
    with open_house(engine_url, config, manual_clock) as house:
        talk(house, "a", "b", "c")
        house.sweep()
        [waits] = [each for each in owed(house) if each.state == "pending"]
        assert waits.attempts == 0
        golden("finalizers", "waits: no calls left today", waits.last_error or "")
        assert waits.not_before == datetime.fromisoformat("2026-01-02T00:00Z")
        manual_clock.advance(timedelta(hours=12))
        house.sweep()
        assert states(house) == {"done": 3}
    assert len(model.requests) == 3


def test_a_lasting_failure_is_told_once_a_minute_and_given_up_in_the_end(
    engine_url: str,
    tmp_path: Path,
    model: Server,
    manual_clock: ManualClock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    model.replies[:] = [reply(500)]
    told: list[float] = []
    config = configure(tmp_path, memory(model.url, attempts=5, concurrency=5))
    with open_house(engine_url, config, manual_clock) as house:
        talk(house, *map(str, range(5)))
        for _ in range(60):
            caplog.clear()
            house.sweep()
            told += [manual_clock.monotonic()] * len(caplog.records)
            if states(house) == {"dead": 5}:
                break
            manual_clock.advance(15)
        assert states(house) == {"dead": 5}
        assert {each.attempts for each in owed(house)} == {5}
        assert {str(house.find(each.session).state) for each in owed(house)} == {"finalized"}
    assert len(told) > 3
    assert all(later - sooner >= 60 for sooner, later in itertools.pairwise(told))
    assert len(model.requests) == 5 * 5
    assert manual_clock.monotonic() >= 30 * (2**4 - 1)


def hired(house: Sexton, clock: Clock, duty: Duty) -> Runner:
    """A runner with an effect of the test's own, which reads no messages."""
    worker = house.worker(kind="keeper")
    duties = {"memories": duty}
    return Runner(house.ledger, clock, duties, lambda: worker.id, lambda *_: iter(()))


class Broken:
    """An effect with a bug."""

    def carry_out(self, job: Job) -> str:
        raise KeyError(job.key)


def test_a_bug_in_an_effect_is_a_failed_try_of_it_and_hurts_nothing_else(
    house: Sexton, manual_clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    talk(house, "a", "b")
    worker = house.worker(kind="keeper")
    duties = {"memories": Duty(effect=Broken(), retry=RetryPolicy(attempts=2))}
    transcript = house.estate().homes["native"].transcript
    runner = Runner(house.ledger, manual_clock, duties, lambda: worker.id, transcript)
    assert runner.drain() == 2
    assert all("KeyError" in (each.last_error or "") for each in owed(house))
    assert states(house) == {"pending": 2}
    manual_clock.advance(50)
    assert runner.drain() == 2
    assert states(house) == {"dead": 2}
    assert len(caplog.records) == 2
    assert [__file__ in record.getMessage() for record in caplog.records].count(True) <= 1


class Quick:
    """An effect that is done at once."""

    def carry_out(self, job: Job) -> str:
        return f"did {job.finalizer}"


def test_where_no_thread_can_be_started_the_work_is_done_all_the_same(
    house: Sexton, manual_clock: ManualClock
) -> None:
    talk(house, "a", "b")
    runner = hired(house, manual_clock, Duty(effect=Quick()))
    threading.stack_size(1 << 46)
    try:
        with pytest.raises(RuntimeError):
            threading.Thread(target=print).start()
        assert runner.drain() == 2
    finally:
        threading.stack_size(0)
    assert states(house) == {"done": 2}


class Waiting:
    """An effect that waits for its gate the first time."""

    def __init__(self) -> None:
        self.gate = threading.Event()

    def carry_out(self, job: Job) -> str:
        assert self.gate.wait(240)
        return job.key


class Revealing(SystemClock):
    """A clock that, when it is asked while the work is running, lets it finish first."""

    def __init__(self, effect: Waiting) -> None:
        self._effect = effect

    def now(self) -> datetime:
        me = threading.current_thread()
        running = [each for each in threading.enumerate() if each.name == "sexton-memories"]
        if running and me not in running:
            self._effect.gate.set()
            for each in running:
                each.join(240)
        return super().now()


def test_work_that_ends_while_the_rest_is_looked_for_does_not_leave_the_rest_undone(
    engine_url: str, tmp_path: Path, model: Server
) -> None:
    effect = Waiting()
    with open_house(engine_url, configure(tmp_path, memory(model.url))) as house:
        talk(house, "a", "b", "c")
        worker = house.worker(kind="keeper")
        duties = {"memories": Duty(effect=effect, concurrency=1)}
        transcript = house.estate().homes["native"].transcript
        clock = Revealing(effect)
        runner = Runner(house.ledger, clock, duties, lambda: worker.id, transcript)
        assert runner.drain() == 3
        assert states(house) == {"done": 3}


def test_no_message_is_flushed_twice_however_often_a_session_comes_back(
    engine_url: str, tmp_path: Path, manual_clock: ManualClock
) -> None:
    with Server([reply()]) as server:
        config = configure(tmp_path, webhook(server.url))
        with open_house(engine_url, config, manual_clock) as house, house.worker() as worker:
            session = worker.session("a", source="telegram")
            for flushed in (True, False, True, True):
                session.append_many([{"role": "user", "content": "x"}] * 3)
                lost = house.find(session.id)
                now = manual_clock.now()
                assert house.ledger.book.end_now(lost, "reaped:silent", now)
                if flushed:
                    house.sweep()
                manual_clock.advance(60)
                session.revive()
            session.end()
            house.sweep()
            assert states(house) == {"done": 3}
    told = [[each["seq"] for each in request.json["messages"]] for request in server.requests]
    assert told == [[1, 2, 3], [4, 5, 6, 7, 8, 9], [10, 11, 12]]
    spans = [(request.json["since"], request.json["through"]) for request in server.requests]
    assert spans == [(0, 3), (3, 9), (9, 12)]
