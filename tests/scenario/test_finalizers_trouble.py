"""What goes wrong with end-of-session work is a failed try of it, and hurts nothing else."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sexton.core.message import Message
from sexton.errors import LedgerError
from sexton.finalizers.effects.job_processes import carriers, tag_of
from sexton.finalizers.job import EffectFailed, EffectPostponed, Job
from sexton.finalizers.policy import MOST_CRASHES, Rate, RetryPolicy
from sexton.finalizers.runner import Duty, Runner
from sexton.finalizers.store import LedgerFinalizing
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from sexton.wiring.duties import duties
from tests.golden import golden
from tests.scenario.effects_server import PATIENCE, Server, reply, say
from tests.scenario.finalizers_scene import (
    configure,
    memory,
    open_house,
    owed,
    states,
    talk,
    wait_until,
    webhook,
)


@pytest.fixture
def house(engine_url: str, tmp_path: Path, manual_clock: ManualClock) -> Iterator[Sexton]:
    """A house whose sessions owe two kinds of work, which the tests do themselves."""
    one = {"name": "one", "kind": "python", "entry_point": "x"}
    config = configure(tmp_path, one, one | {"name": "two"})
    with open_house(engine_url, config, manual_clock) as opened:
        yield opened


class Doing:
    """An effect that does what the test says."""

    def __init__(self, act: Callable[[Job], Any]) -> None:
        self._act = act

    def carry_out(self, job: Job) -> str:
        done: str = self._act(job)
        return done


def runner(
    house: Sexton,
    *,
    said: Callable[..., Iterator[Message]] = lambda *_: iter(()),
    at_once: int = 32,
    **duties: Duty,
) -> Runner:
    """A runner of this house with effects of the test's own."""
    worker = house.worker(kind="keeper")
    return Runner(house.ledger, house.clock, duties, lambda: worker.id, said, at_once)


def throw(error: BaseException) -> Duty:
    def act(_: Job) -> str:
        raise error

    return Duty(effect=Doing(act))


@pytest.mark.parametrize(
    "trouble",
    [
        lambda _: EffectPostponed("later", datetime(2026, 1, 1)),  # noqa: DTZ001
        lambda _: EffectFailed("no", after=7),  # type: ignore[arg-type]
        lambda _: sys.exit(3),
        lambda _: asyncio.run(cancelled()),
        lambda job: {}[job.key],
    ],
)
def test_whatever_an_effect_raises_is_a_failed_try(
    trouble: Callable[[Job], Any], house: Sexton
) -> None:
    talk(house, "a")
    ready = runner(house, one=Duty(effect=Doing(trouble)))
    assert ready.drain() == 1
    [failed, _] = owed(house)
    assert (failed.state, failed.attempts) == ("pending", 1)
    assert failed.last_error


async def cancelled() -> None:
    raise asyncio.CancelledError


def test_an_outcome_that_can_not_be_stored_is_a_failed_try(
    house: Sexton, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(house, "a")
    bug = TypeError("nobody foresaw this")

    def finish(*_: object) -> bool:
        raise bug

    monkeypatch.setattr(LedgerFinalizing, "finish", finish)
    ready = runner(house, one=Duty(effect=Doing(lambda _: "done")))
    assert ready.drain() == 1
    [failed, _] = owed(house)
    assert (failed.state, failed.attempts) == ("pending", 1)
    golden("finalizers", "failed: its outcome can not be stored", failed.last_error or "")


def test_the_runner_outlives_a_ledger_that_fails_and_a_bug_of_its_own(
    engine_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = configure(tmp_path, {"name": "one", "kind": "python", "entry_point": "x"})
    with open_house(engine_url, config) as house:
        talk(house, "a")
        troubles = [TypeError("a bug"), LedgerError("out of reach")]
        claim = LedgerFinalizing.claim

        def flaky(self: LedgerFinalizing, *given: Any) -> Any:
            if troubles:
                raise troubles.pop()
            return claim(self, *given)

        monkeypatch.setattr(LedgerFinalizing, "claim", flaky)
        ready = runner(house, one=Duty(effect=Doing(lambda _: "done")))
        thread = threading.Thread(target=ready.run, args=(0.01,))
        thread.start()
        try:
            wait_until(lambda: states(house) == {"done": 1})
        finally:
            ready.stop()
            thread.join(240)
        assert troubles == []


def test_what_a_keeper_was_given_without_hearing_of_it_is_done_by_it(
    house: Sexton, manual_clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(house, "a", "b")
    claim, troubles = LedgerFinalizing.claim, [LedgerError("it did not answer in time")]

    def broken_off(*given: Any) -> Any:
        taken = claim(*given)
        if troubles:
            raise troubles.pop()
        return taken

    gate, done = threading.Event(), Counter[str]()

    def act(job: Job) -> str:
        done[job.key] += 1
        assert gate.wait(PATIENCE)
        return "done"

    monkeypatch.setattr(LedgerFinalizing, "claim", broken_off)
    ready = runner(house, one=Duty(effect=Doing(act), concurrency=1))
    with pytest.raises(LedgerError):
        ready.begin()
    assert ready.begin() == 1  # the other one, which is in hand when it is looked for
    manual_clock.advance(61)
    assert ready.begin() == 0
    gate.set()
    manual_clock.advance(61)
    ready.drain()
    assert [each.state for each in owed(house, finalizer="one")] == ["done", "done"]
    assert set(done.values()) == {1}


def test_an_endpoint_that_asks_for_time_is_left_alone_by_all_work_and_it_costs_no_try(
    engine_url: str, tmp_path: Path, manual_clock: ManualClock
) -> None:
    with Server([reply(429, Retry_After="600")] * 2 + [say("- now")]) as model:
        config = configure(tmp_path, memory(model.url, concurrency=2, attempts=1))
        with open_house(engine_url, config, manual_clock) as house:
            talk(house, *map(str, range(30)))
            house.sweep()
            assert len(model.requests) == 2
            manual_clock.advance(599)
            house.sweep()
            assert len(model.requests) == 2
            assert {each.attempts for each in owed(house)} == {0}
            manual_clock.advance(600 * 0.2 + 1)
            house.sweep()
            assert states(house) == {"done": 30}
            assert len(model.requests) == 32


def test_an_endpoint_that_asks_for_time_for_ever_gets_a_week_and_then_the_tries_of_any_other(
    engine_url: str, tmp_path: Path, manual_clock: ManualClock
) -> None:
    with Server([reply(429, Retry_After="86400")]) as model:
        config = configure(tmp_path, memory(model.url, attempts=3))
        with open_house(engine_url, config, manual_clock) as house:
            talk(house, "a")
            seen = []
            for _ in range(12):
                house.sweep()
                seen += [(each.attempts, each.state.value) for each in owed(house)]
                manual_clock.advance(86_400 * 1.2)
            assert seen[:6] == [(0, "pending")] * 6
            assert seen[6:8] == [(1, "pending"), (2, "pending")]
            assert seen[8:] == [(3, "dead")] * 4
            assert len(model.requests) == 9


@pytest.mark.slow
def test_an_endpoint_that_is_down_is_tried_now_and_then_and_not_by_all_work(
    engine_url: str, tmp_path: Path, manual_clock: ManualClock
) -> None:
    with Server([reply(503)]) as server:
        config = configure(tmp_path, webhook(server.url, concurrency=1))
        with open_house(engine_url, config, manual_clock) as house:
            talk(house, *map(str, range(20)))
            for _ in range(24 * 4):
                house.sweep()
                manual_clock.advance(900)
            assert states(house) == {"pending": 20}
            assert len(server.requests) <= 24 * 4
            server.replies[:] = [reply()]
            for _ in range(8 * 4):
                house.sweep()
                manual_clock.advance(900)
            assert states(house) == {"done": 20}


def test_work_that_kills_every_keeper_is_given_up_and_other_work_is_not(
    house: Sexton, manual_clock: ManualClock
) -> None:
    talk(house, "a")
    for _ in range(MOST_CRASHES):
        killed = house.worker(kind="keeper")
        [taken] = house.ledger.finalizing.claim(killed.id, ["one"], 9, manual_clock.now())
        [dead] = [each for each in house.ledger.reaping.suspects() if each.id == killed.id]
        house.ledger.reaping.declare([(dead, "test: it is dead")], manual_clock.now())
        house.ledger.finalizing.free(manual_clock.now())
        [waits, _] = owed(house)
        manual_clock.advance(max(waits.not_before - manual_clock.now(), timedelta(0)))
    quiet = Duty(effect=Doing(lambda _: "done"))
    broken = throw(AssertionError("it is not tried any more"))
    assert runner(house, one=broken, two=quiet).drain() == 2
    poison, other = owed(house)
    assert (poison.state, poison.ref) == ("dead", taken.ref)
    golden("finalizers", "given up: keepers died of it", poison.last_error or "")
    assert other.state == "done"


def test_the_last_words_of_a_program_are_kept_for_people_and_in_no_log(
    engine_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    script = "print('noise ' * 900); print('REAL ERROR: disk on fire'); raise SystemExit(3)"
    command = {"name": "c", "kind": "command", "command": [sys.executable, "-c", script]}
    with open_house(engine_url, configure(tmp_path, command)) as house:
        talk(house, "a")
        house.sweep()
        [failed] = owed(house)
        assert failed.last_error is not None
        code, _, said = failed.last_error.partition(": ")
        assert "3" in code
        assert said.startswith("…")
        assert failed.last_error.endswith("REAL ERROR: disk on fire")
    [line] = [each for each in caplog.messages if failed.key in each]
    assert line.endswith(code)


def test_every_call_counts_against_the_rate_and_not_only_every_work(
    engine_url: str, tmp_path: Path, manual_clock: ManualClock
) -> None:
    with Server([say("- fact")]) as model:
        config = configure(tmp_path, memory(model.url, per_minute=1, context_tokens=2000))
        with open_house(engine_url, config, manual_clock) as house:
            with house.worker() as worker:
                session = worker.session("k", source="cli")
                session.append_many([{"role": "user", "content": "word " * 400}] * 4)
                session.end()
            for minute in range(1, 8):
                house.sweep()
                assert len(model.requests) == minute
                if states(house) == {"done": 1}:
                    break
                manual_clock.advance(61)
            assert states(house) == {"done": 1}
            assert len(model.requests) > 2
            assert owed(house)[0].attempts == 1


def test_a_clock_that_jumps_ahead_and_back_does_not_hold_up_the_rate(
    house: Sexton, manual_clock: ManualClock
) -> None:
    talk(house, *"abc")
    ready = runner(house, one=Duty(effect=Doing(lambda _: "done"), rate=Rate(count=1)))
    noon = manual_clock.now()
    assert ready.drain() == 1
    manual_clock.set(noon + timedelta(days=2))
    assert ready.drain() == 0
    manual_clock.set(noon)
    manual_clock.advance(61)
    assert ready.drain() == 1


def test_what_has_to_wait_until_now_is_not_looked_at_again_at_once(
    house: Sexton, manual_clock: ManualClock
) -> None:
    talk(house, "a")
    ready = runner(house, one=throw(EffectPostponed("later", manual_clock.now())))
    assert ready.drain() == 1
    [waits, _] = owed(house)
    assert (waits.state, waits.attempts) == ("pending", 0)
    assert waits.not_before > manual_clock.now()


def test_a_keeper_that_is_stopped_gives_back_what_it_has_in_hand(
    engine_url: str, tmp_path: Path
) -> None:
    gate = threading.Event()
    script = f"echo begun >> {tmp_path}/runs; sleep 600"
    command = {"name": "c", "kind": "command", "command": ["sh", "-c", script], "attempts": 1}
    config = configure(tmp_path, command, {"name": "p", "kind": "python", "entry_point": "x"})
    with open_house(engine_url, config) as house:
        talk(house, "a")
        [program, _] = owed(house)
        duty = duties(house.settings, house.clock, {"PATH": os.defpath})["c"]
        hanging = Duty(effect=Doing(lambda _: str(gate.wait(240))))
        said = house.estate().homes["native"].transcript
        ready = runner(house, said=said, c=duty, p=hanging)
        assert ready.begin() == 2
        wait_until((tmp_path / "runs").exists)
        ready.stop()
        ready.settle(0.5)
        try:
            wait_until(lambda: carriers(tag_of(program.key)) == [])
            assert {(each.state, each.attempts) for each in owed(house)} == {("pending", 0)}
            for each in owed(house):
                golden("finalizers", "waits: its keeper was stopped", each.last_error or "")
        finally:
            gate.set()


def test_a_keeper_for_one_sweep_that_is_stopped_leaves_no_program_behind(
    engine_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sexton.keeper.keeper.PATIENCE", 0.2)
    script = f"echo begun >> {tmp_path}/runs; sleep 600"
    command = {"name": "c", "kind": "command", "command": ["sh", "-c", script], "attempts": 1}
    with open_house(engine_url, configure(tmp_path, command)) as house:
        talk(house, "a")
        keeper = house.keeper(house.worker(kind="keeper"), watchful=False)
        sweeping = threading.Thread(target=keeper.once)
        sweeping.start()
        wait_until((tmp_path / "runs").exists)
        keeper.stop()
        sweeping.join()
        [work] = owed(house)
        assert (work.state, work.attempts) == ("pending", 0)
        wait_until(lambda: carriers(tag_of(work.key)) == [])


def test_one_finalizer_with_much_work_does_not_starve_the_others(house: Sexton) -> None:
    talk(house, *map(str, range(6)))
    done: list[str] = []

    def act(job: Job) -> str:
        done.append(job.finalizer)
        return "done"

    duty = Duty(effect=Doing(act), concurrency=32)
    runner(house, at_once=1, one=duty, two=duty).drain()
    assert done == ["one", "two"] * 6


def test_work_whose_messages_are_gone_is_not_called_done(
    house: Sexton, manual_clock: ManualClock
) -> None:
    talk(house, "a", count=3)
    left = [Message(seq=1, role="user", content="x", at=manual_clock.now())]
    read = Duty(effect=Doing(lambda job: f"read {len(list(job.messages()))}"))
    runner(house, said=lambda *_: iter(left), one=read).drain()
    runner(house, said=lambda *_: iter(()), two=read).drain()
    some, none = owed(house)
    assert (some.state, none.state) == ("done", "dead")
    golden("finalizers", "done: some messages are gone", some.note or "")
    golden("finalizers", "given up: all messages are gone", none.last_error or "")


def test_a_try_that_fails_while_others_work_is_no_outage_for_long(
    house: Sexton, manual_clock: ManualClock
) -> None:
    talk(house, *"abcdef")
    outages = iter([True, False] * 50)
    flaky = partial(EffectFailed, "no", outage=True)

    def act(_: Job) -> str:
        if next(outages):
            raise flaky()
        return "done"

    ready = runner(house, one=Duty(effect=Doing(act), concurrency=1, retry=RetryPolicy(jitter=0)))
    for _ in range(40):
        ready.drain()
        manual_clock.advance(15)
    assert [each.state for each in owed(house) if each.finalizer == "one"] == ["done"] * 6
