"""Workers that are hurt in every way, a keeper killed in mid-sweep, a server that stands still."""

from __future__ import annotations

import random
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from sexton.errors import LedgerUnreachable
from sexton.keeper.apply import REAPS_TOGETHER
from sexton.liveness.policy import LivenessPolicy
from sexton.settings.settings_values import Settings
from sexton.store.opening import open_ledger
from sexton.wiring import Sexton
from tests.contract.ledger_contract_samples import everything
from tests.crash.holding import HASTY, HOLD, publish
from tests.crash.impatience import impatient
from tests.crash.killing import KILLS, Killing
from tests.crash.pausing import library
from tests.crash.reusing_apart import REUSE_APART
from tests.crash.running import LONGER, Place, Tally
from tests.crash.victims import Victim, assert_go_on
from tests.kit.aftermath import assert_ended_once, assert_lives_on
from tests.kit.apart import may_live_apart
from tests.kit.freezing import Freezer, may_freeze
from tests.kit.hurting import FATAL, REUSE, frozen, may_choose_pids, reuse_pid, stopped
from tests.kit.jumping import WallClock, faked_by
from tests.kit.nursery import Nursery, PidTaken
from tests.kit.postgres_server import PostgresServer
from tests.layers import unavailable
from tests.scenario.finalizers_scene import wait_until
from tests.scenario.fleet import Site, beat, codes, pass_time

PATIENCE = 240.0
MANY = REAPS_TOGETHER + 30
"""More than are reaped in one transaction."""


@pytest.fixture
def tally() -> Tally:
    return Tally(module="tests.crash", engine="this one", seed=1, number=10, counted=KILLS)


@pytest.fixture
def house(engine_url: str) -> Iterator[Sexton]:
    """A keeper's Sexton."""
    with Sexton(open_ledger(engine_url, patience=PATIENCE), Settings()) as opened:
        yield opened


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_after_one_sweep_nothing_is_leaked_or_ended_twice_however_workers_were_killed(
    engine: str, nursery: Nursery, tmp_path: Path, postgres_server: PostgresServer, tally: Tally
) -> None:
    place = Place(tmp_path, postgres_server if engine == "postgres" else None)
    # Who chooses a pid moves the numbers of all processes here: that is done in a namespace only.
    possible = [each for each in FATAL if each != REUSE]
    killing = Killing(nursery, place, tally, possible)
    tally.run(None, killing.round)
    assert tally.failures == []
    assert tally.events[KILLS] == 10


@pytest.mark.parametrize("blow", [each for each in FATAL if each != REUSE])
def test_every_blow_ends_a_child(nursery: Nursery, tmp_path: Path, blow: str) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    child = nursery.start(HOLD, url, "worker", "shared", "0.01", terminal=True)
    Victim(child=child).introduce()
    assert child.is_alive
    FATAL[blow](child)
    child.fall()
    assert child.wait() != 0


def test_a_child_that_ends_before_it_told_enough_is_not_taken_for_one_that_told_it(
    nursery: Nursery, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    child = nursery.start(HOLD, url, "worker", "shared", "0.01")
    Victim(child=child).introduce()
    child.wait_for(lambda lines: sum(line.startswith("done") for line in lines) > 1)
    child.signal(signal.SIGKILL)
    with pytest.raises(AssertionError, match=r"done|busy|idle"):  # what it told last
        child.wait_for(lambda lines: "what it never tells" in lines)


def test_a_pid_that_can_not_be_chosen_is_not_passed_over(nursery: Nursery) -> None:
    if may_choose_pids():
        with pytest.raises(PidTaken):  # somebody who lives has this one
            reuse_pid(nursery, 1)
    else:
        with pytest.raises(PermissionError):
            reuse_pid(nursery, 2**22 + 1)


def test_a_pid_that_was_reused_is_a_stranger_who_is_left_alone(
    nursery: Nursery, engine_url: str
) -> None:
    child = nursery.start("tests.kit.apart:apart", REUSE_APART, engine_url)
    code = child.wait()
    if not may_live_apart():
        assert (child.lines(), code) == (["forbidden"], 1)  # it is said, not passed over
        unavailable("pids: this user may not have a pid namespace")
    [line] = child.lines()
    assert line.startswith("reused"), line
    assert int(line.split()[1]) < child.pid, "a new namespace begins to count anew"
    assert code == 0


def test_a_keeper_killed_in_mid_sweep_leaves_what_the_next_sweep_completes_without_a_double_end(
    house: Sexton, nursery: Nursery, engine_url: str
) -> None:
    worker = nursery.start("tests.crash.holding:hold_many", engine_url, str(MANY))
    worker.wait_for(bool)
    worker.kill()
    keeper = nursery.start("tests.crash.holding:sweep_slowly", engine_url)
    keeper.wait_for(bool)
    keeper.kill()
    ended = [each for each in everything(house.ledger) if not each.is_open]
    assert 0 < len(ended) < MANY
    assert len(house.sweep().outcomes) == MANY - len(ended)
    for session in everything(house.ledger):
        assert_ended_once(house.ledger, session)


def test_a_server_that_stands_still_for_longer_than_a_ttl_costs_nobody_its_sessions() -> None:
    """By clocks of its own: the real time of real processes is for `make crash`."""
    ttl = LivenessPolicy().ttl.total_seconds()
    with PostgresServer() as server:
        url = server.create_database()
        here, there = Site(url, "here"), Site(url, "there")
        with closing(here), closing(there):
            workers = [here.house.worker(), there.house.worker()]
            held = [each.session(f"job {each.id}", source="cli") for each in workers]
            pass_time(here, 120, *workers, sites=(there,))
            server.pause()
            with impatient(here.ledger, 1.0), impatient(there.ledger, 1.0):
                acts: list[Callable[[], object]] = [partial(beat, each) for each in workers]
                for act in (here.sweep, *acts):
                    for site in (here, there):
                        site.clock.advance(ttl)
                    with pytest.raises(LedgerUnreachable):
                        act()
            server.resume()
            assert codes(here.sweep()) == []  # before anybody had the time for a beat
            assert codes(*pass_time(here, 4 * ttl, *workers, sites=(there,))) == []
            for worker, session in zip(workers, held, strict=True):
                assert session.append(role="user", content="never away") == 1
                assert_lives_on(here.ledger, here.find(session.id), [worker.id])


@pytest.mark.parametrize("way", ["stopped", "frozen"])
def test_a_worker_that_was_paused_goes_on_as_if_nothing_had_been(
    house: Sexton, nursery: Nursery, engine_url: str, way: str
) -> None:
    if way == "frozen" and not may_freeze():
        with pytest.raises(PermissionError):  # it is said, not passed over
            Freezer()
        unavailable("freezer: this user may not make a cgroup")
    publish(engine_url, HASTY)
    victim = Victim(child=nursery.start(HOLD, engine_url, "worker", "shared", "0.01"))
    victim.introduce()
    with ExitStack() as stack:
        if way == "frozen":
            stack.enter_context(frozen(victim.child, stack.enter_context(Freezer())))
        else:
            stack.enter_context(stopped(victim.child))
        # Only planned: it may stand still with the lock of the ledger.
        assert house.plan().actions == ()
    assert_go_on([victim])
    for id in victim.sessions.values():
        assert_lives_on(house.ledger, house.find(id), [victim.worker])
    victim.child.kill()


def test_a_wall_clock_jumps_for_the_processes_that_live_by_it(
    tmp_path: Path, engine_url: str
) -> None:
    clock = WallClock(tmp_path / "clock")
    with Nursery("tests.crash.holding", environ=faked_by(library())) as nursery:
        child = nursery.start(HOLD, engine_url, "worker", "shared", "0.01", environ=clock.environ)
        victim = Victim(child=child)
        victim.introduce()
        with closing(open_ledger(engine_url)) as ledger:
            [before] = ledger.index.find(None, victim.sessions["own"])
            clock.jump(timedelta(days=2))
            day, id = timedelta(days=1), victim.sessions["own"]
            wait_until(lambda: ledger.index.find(None, id)[0].active_at > before.active_at + day)
            assert_go_on([victim])
            [after] = ledger.index.find(None, id)
            assert after.active_at - before.active_at < 3 * day
            assert_lives_on(ledger, after, [victim.worker])


def test_a_failed_round_tells_how_to_repeat_it_and_the_campaign_ends(tally: Tally) -> None:
    chances: list[float] = []

    def fail(chance: random.Random, _: int) -> None:
        chances.append(chance.random())
        raise AssertionError("lost")

    tally.run(None, fail)
    assert len(tally.failures) == 10
    assert "SEED=1 ENGINE=this one ROUND=1" in tally.failures[1]
    replace(tally, events=Counter(), rounds=0).run(1, fail)
    assert chances[10:] == [chances[1]]


def test_a_campaign_goes_on_until_everything_rare_has_come_up_but_not_for_ever(
    tally: Tally,
) -> None:
    def kill(_: random.Random, number: int) -> None:
        tally.events.update([KILLS, *(["the seventeenth"] if number == 16 else [])])

    tally.rare = ["the seventeenth"]
    assert tally.left == 10
    tally.run(None, kill)
    assert (tally.events[KILLS], tally.never) == (17, [])
    tally.rare = ["what never happens"]
    tally.run(None, kill)
    assert tally.events[KILLS] == LONGER * 10
    assert tally.never == ["what never happens (this one)"]
