"""Is a death on this machine noticed at once, and what do sweeps count?"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

import sexton
from sexton.core.schedule import Schedule
from sexton.core.session import Session
from sexton.homes.home_ports import Sighting
from sexton.keeper.keeper import Keeper
from sexton.liveness.death_watch import PidfdWatch
from sexton.liveness.model import Sample, Worker
from sexton.liveness.policy import LivenessPolicy
from sexton.liveness.standing import samples
from sexton.rules.rulebook import Rulebook
from sexton.sessions.model import Birth
from sexton.settings.settings_values import Settings
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from tests.surface.holding import holder

PATIENCE = 240.0
NEVER = 100_000.0
"""Seconds between two sweeps or looks: no test lasts until the next one."""


@pytest.fixture
def url(tmp_path: Path) -> str:
    return str(tmp_path / "ledger.db")


@pytest.fixture
def opened(url: str, manual_clock: ManualClock) -> Iterator[Sexton]:
    with Sexton(open_ledger(url), Settings(), clock=manual_clock) as made:
        yield made


@pytest.fixture
def watch() -> Iterator[PidfdWatch]:
    with closing(PidfdWatch()) as made:
        yield made


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether the condition comes true soon."""
    for _ in range(int(PATIENCE * 20)):
        if condition():
            return True
        time.sleep(0.05)
    return False


def worker_of(held: Sexton, session: str) -> Worker:
    (found,) = held.find(session).holders
    return found.worker


def test_a_killed_process_wakes_whoever_watches_it_once(url: str, watch: PidfdWatch) -> None:
    with sexton.open(url) as held, holder(url, "a", "cli") as (process, session):
        watch.watch([worker_of(held, session).identity])
        assert not watch.wait(0)
        process.kill()
        assert watch.wait(PATIENCE)
        assert not watch.wait(0)


def test_another_process_with_the_same_pid_is_not_watched(url: str, watch: PidfdWatch) -> None:
    with sexton.open(url) as held, holder(url, "a", "cli") as (process, session):
        identity = worker_of(held, session).identity
        watch.watch([replace(identity, started=identity.started + 1, inode=None)])
        process.kill()
        process.wait()
        assert not watch.wait(0.1)


def test_a_watch_that_was_woken_never_waits_again(watch: PidfdWatch) -> None:
    watch.wake()
    assert not watch.wait(NEVER)
    assert not watch.wait(NEVER)


def test_a_keeper_sees_to_the_sessions_of_a_killed_process_before_its_next_sweep(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEXTON_KEEPER__SWEEP_EVERY", "1d")
    with sexton.open(url) as held, holder(url, "a", "cli") as (process, session):
        assert held.keep().interval > PATIENCE
        assert eventually(lambda: held.ledger.workers.last_sweep() is not None)
        process.kill()
        assert eventually(lambda: not held.find(session).is_open)
        assert held.find(session).end_reason == "reaped:process_gone"


def test_where_nothing_reports_deaths_a_keeper_finds_them_at_its_next_look(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sexton.keeper.keeper.LOOK_EVERY", 0.2)
    with sexton.open(url) as held, held.worker(kind="keeper") as worker:
        keeper = Keeper(held.estate, lambda: worker.id, NEVER)
        thread = threading.Thread(target=keeper.run)
        thread.start()
        try:
            with holder(url, "a", "cli") as (process, session):
                process.kill()
                assert eventually(lambda: not held.find(session).is_open)
        finally:
            keeper.close()
            thread.join(PATIENCE)
        assert not thread.is_alive()


def test_a_keeper_that_was_taken_for_dead_goes_on_as_the_worker_it_then_is(
    opened: Sexton, manual_clock: ManualClock
) -> None:
    worker = opened.worker(kind="keeper")
    with closing(opened.keeper(worker, watchful=False)) as keeper:
        keeper.sweep()
        before, [known] = worker.id, opened.ledger.workers.all()
        opened.ledger.reaping.declare([(known, "x: y")], manual_clock.now())
        manual_clock.advance(timedelta(minutes=5))
        worker.session()  # whoever wants to write asks first whether it still counts
        keeper.sweep()
        assert worker.id != before
        swept = {each.id: each.swept_at for each in opened.ledger.workers.all()}
        assert swept[worker.id] == manual_clock.now()


def test_a_resting_keeper_stops_at_once_and_may_be_stopped_again(url: str) -> None:
    with sexton.open(url) as held, held.worker(kind="keeper") as worker:
        keeper = held.keeper(worker)
        thread = threading.Thread(target=keeper.run)
        thread.start()
        assert eventually(lambda: held.ledger.workers.last_sweep() is not None)
        keeper.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()
        keeper.close()
        keeper.stop()
        keeper.close()


def test_sweeps_count_the_open_sessions_of_a_home_every_ten_minutes(
    opened: Sexton, manual_clock: ManualClock
) -> None:
    begun = manual_clock.now()
    with opened.worker() as worker:
        worker.session("left", source="telegram")
    with opened.worker() as worker:
        worker.session("held", source="telegram")
        for minutes in (0, 9, 1, 5, 4):
            manual_clock.advance(timedelta(minutes=minutes))
            opened.sweep()
        found = opened.ledger.samples.since(begun)
    counts = {"open": 2, "live": 1, "waiting": 1, "leaked": 0, "unproven": 0}
    assert found == [
        Sample(home="native", at=begun + timedelta(minutes=minutes), **counts)
        for minutes in (0, 10)
    ]


def test_a_wall_clock_that_was_put_back_does_not_keep_sweeps_from_counting(
    opened: Sexton, manual_clock: ManualClock
) -> None:
    begun = manual_clock.now()
    for moment in (begun + timedelta(days=2), begun):
        manual_clock.set(moment)
        opened.sweep()
    assert len(opened.ledger.samples.since(begun)) == 2


def test_a_session_whose_holder_can_not_be_seen_is_unproven(opened: Sexton) -> None:
    far = Worker(
        id="far",
        identity=replace(opened.processes.myself(), host="elsewhere"),
        kind="agent",
        version="0",
        beat=0,
        registered_at=opened.clock.now(),
    )
    opened.ledger.workers.register(far)
    birth = Birth(id="s", key=None, source="cli", worker=far.id, schedule=Schedule(0))
    opened.ledger.book.begin(birth, opened.clock.now())
    (native,) = samples(opened.estate(), opened.ledger.homes.all())
    assert (native.open, native.unproven, native.leaked) == (1, 1, 0)


@pytest.fixture
def bounded(url: str, manual_clock: ManualClock) -> Iterator[Sexton]:
    """A ledger under whose policies a week of silence is the death of a telegram session."""
    policy = LivenessPolicy(inactivity_bound=(("telegram", timedelta(days=7)),))
    settings = Settings(rulebook=Rulebook(liveness=policy))
    with Sexton(open_ledger(url), settings, clock=manual_clock) as made:
        made.publish()
        yield made


def test_what_was_silent_beyond_its_bound_counts_as_leaked(
    bounded: Sexton, manual_clock: ManualClock
) -> None:
    begun = manual_clock.now()
    with bounded.worker() as worker:
        worker.session("old", source="telegram")
        worker.session("other", source="signal")
    homes = bounded.ledger.homes
    foreign = homes.attach("other", "hermes", "/other", "elsewhere", False)
    seen = tuple(
        Session(
            ref=0, home="other", id=source, key=None, source=source,
            started_at=begun, active_at=begun,
        )
        for source in ("telegram", "signal")
    )  # fmt: skip
    homes.store(foreign, Sighting(seen=seen, mark={}), None, begun)
    before = {each.home: each for each in samples(bounded.estate(), homes.all())}
    assert (before["native"].waiting, before["native"].leaked) == (2, 0)
    assert (before["other"].unproven, before["other"].leaked) == (2, 0)
    manual_clock.advance(timedelta(days=7))
    after = {each.home: each for each in samples(bounded.estate(), homes.all())}
    assert (after["native"].waiting, after["native"].leaked) == (1, 1)
    assert (after["other"].unproven, after["other"].leaked) == (1, 1)
