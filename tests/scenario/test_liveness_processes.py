"""Real processes that are killed, stopped or forked, and ledgers that know too little."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import apsw
import pytest

from sexton.core.session import State
from sexton.errors import SessionRewound
from sexton.keeper.keeper import Keeper
from sexton.liveness.policy import LivenessPolicy
from sexton.settings.settings_values import Settings
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from tests.between_writes import stop_between_writes
from tests.contract.ledger_contract_samples import born
from tests.scenario.fleet import Site, codes, pass_time

WORKER = """
import sys
from sexton import wiring
with wiring.open(sys.argv[1]) as sexton, sexton.worker() as worker:
    session = worker.session("job", source="cli")
    session.append(role="user", content="x")
    print(session.id, flush=True)
    sys.stdin.readline()
"""

FORKING = """
import os, sys
from sexton import wiring
with wiring.open(sys.argv[1]) as sexton, sexton.worker() as worker:
    session = worker.session("job", source="cli")
    print(session.id, flush=True)
    print(worker.id, flush=True)
    if os.fork() == 0:
        with session.turn():
            session.append(role="user", content="from the child")
            print(worker.id, flush=True)
            print(os.getpid(), flush=True)
            sys.stdin.readline()
        os._exit(0)
    os.wait()
    session.append(role="user", content="from the parent")
    print(worker.id, flush=True)
    sys.stdin.readline()
"""

Child = subprocess.Popen[str]


@contextmanager
def started(program: str, url: str) -> Iterator[Child]:
    """A real process that runs the program until it is killed or its input ends."""
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        [sys.executable, "-c", program, url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environ,
    ) as child:
        try:
            yield child
        finally:
            child.kill()


def line(child: Child) -> str:
    """The next thing it says."""
    assert child.stdout is not None
    said = child.stdout.readline().strip()
    assert said, "it has ended without a word"
    return said


@pytest.fixture
def house(engine_url: str) -> Iterator[Sexton]:
    """A keeper's Sexton on this machine, with a clock that can leap through days."""
    with Sexton(open_ledger(engine_url), Settings(), clock=ManualClock()) as opened:
        yield opened


def test_the_session_of_a_killed_process_is_reaped_by_one_sweep(
    house: Sexton, engine_url: str
) -> None:
    with started(WORKER, engine_url) as child:
        id = line(child)
        assert house.sweep().outcomes == ()
        child.kill()
        child.wait()
        assert codes(house.sweep()) == ["reaped:process_gone"]
    ended = house.find(id)
    assert (ended.state, ended.ended_at) == (State.ENDED, ended.active_at)
    assert house.sweep().outcomes == ()


def test_a_process_that_exited_and_was_not_collected_is_dead_too(
    house: Sexton, engine_url: str
) -> None:
    with started(WORKER, engine_url) as child:
        id = line(child)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # a zombie until the block ends
        assert codes(house.sweep()) == ["reaped:process_gone"]
    assert not house.find(id).is_open


def test_a_stopped_process_is_never_reaped(house: Sexton, engine_url: str) -> None:
    clock = house.clock
    assert isinstance(clock, ManualClock)
    with started(WORKER, engine_url) as child, house.worker(kind="keeper") as own:
        id = line(child)
        keeper = Keeper(house.estate, lambda: own.id, 60.0)
        stop_between_writes(child.pid, engine_url)
        for _ in range(100):
            clock.advance(timedelta(seconds=60))
            assert keeper.sweep().outcomes == ()
        clock.advance(timedelta(days=30))
        assert keeper.sweep().outcomes == ()
        assert house.find(id).is_open
        child.send_signal(signal.SIGCONT)
        child.communicate("\n", timeout=240)
        assert child.returncode == 0
    assert house.find(id).end_reason == "closed"


def test_a_forked_child_is_a_worker_of_its_own_and_its_death_is_only_its_own(
    house: Sexton, engine_url: str
) -> None:
    with started(FORKING, engine_url) as parent:
        id, parent_worker, child_worker = line(parent), line(parent), line(parent)
        assert parent_worker != child_worker
        turns = {each.worker.id: each.busy_since for each in house.find(id).holders}
        assert turns.keys() == {parent_worker, child_worker}
        assert turns[parent_worker] is None, "the turn is the child's"
        assert turns[child_worker] is not None
        os.kill(int(line(parent)), signal.SIGKILL)
        assert line(parent) == parent_worker
        assert codes(house.sweep()) == []
        found = house.find(id)
        assert [each.worker.id for each in found.holders] == [parent_worker]
        assert (found.is_open, found.message_count, found.epoch) == (True, 2, 1)
        parent.kill()
        parent.wait()
        assert codes(house.sweep()) == ["reaped:process_gone"]
    assert house.find(id).end_reason == "reaped:process_gone"


def test_rows_of_which_nothing_is_known_are_left_alone_for_ever(engine_url: str) -> None:
    site = Site(engine_url, "here")
    born(site.ledger, source="cli", now=site.clock.now())
    site.clock.advance(timedelta(days=1000))
    assert site.sweep().outcomes == ()
    site.close()


def test_a_bound_for_their_source_reaps_rows_of_which_nothing_is_known(engine_url: str) -> None:
    bound = LivenessPolicy(inactivity_bound=(("cli", timedelta(days=7)),))
    site = Site(engine_url, "here", bound)
    silent = born(site.ledger, "silent", source="cli", now=site.clock.now())
    other = born(site.ledger, "other", source="cron", now=site.clock.now())
    pinned = born(site.ledger, "pinned", source="cli", now=site.clock.now())
    site.ledger.book.mark(pinned.ref, pinned=True)
    held = site.house.worker().session("held", source="cli")
    site.clock.advance(timedelta(days=6, hours=23))
    assert site.sweep().outcomes == ()
    site.clock.advance(timedelta(hours=1))
    sweep = site.sweep()
    assert codes(sweep) == ["reaped:inactive"]
    assert [(each.seen.id, each.holding.code) for each in sweep.held] == [(pinned.id, "pinned")]
    assert ("reap", "held") in [
        (each.question, each.answer) for each in site.house.why(pinned.id).answers
    ]
    found = site.find(silent.id)
    assert (found.end_reason, found.ended_at) == ("reaped:inactive", silent.active_at)
    assert site.find(other.id).is_open
    assert site.find(held.id).is_open
    site.close()


def test_a_ledger_restored_from_a_backup_reaps_nobody_alive(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    url = f"sqlite:///{path}"
    here, there = Site(url, "here"), Site(url, "there")
    early = [site.house.worker() for site in (here, there)]
    kept = [each.session(f"early {n}", source="cli") for n, each in enumerate(early)]
    others = [there.house.worker() for _ in range(9)]
    pass_time(here, 60, *early, *others)
    _copy(path, tmp_path / "backup.db")
    late = [site.house.worker() for site in (here, there)]
    lost = [each.session(f"late {n}", source="cli") for n, each in enumerate(late)]
    pass_time(here, 120, *early, *late, *others)
    _copy(tmp_path / "backup.db", path)
    assert codes(*pass_time(here, 300, *early, *late, *others)) == []
    for number, session in enumerate(kept):
        with pytest.raises(SessionRewound):
            session.append(role="user", content="still here")
        reopened = early[number].session(f"early {number}", source="cli")
        reopened.append(role="user", content="still here")
        assert reopened.id == session.id
        assert here.find(session.id).is_open
        kept[number] = reopened
    for session in lost:
        with pytest.raises(SessionRewound):
            session.append(role="user", content="written after the backup")
    again = [each.session(f"again {n}", source="cli") for n, each in enumerate(late)]
    assert codes(*pass_time(here, 300, *early, *late, *others)) == []
    assert all(here.find(each.id).is_open for each in again)
    for site in (here, there):
        site.close()


@pytest.mark.parametrize(("workers", "doubted"), [(5, True), (2, False)])
def test_one_silent_host_of_four_loses_its_own_sessions_only(
    engine_url: str, workers: int, doubted: bool
) -> None:
    sites = [Site(engine_url, f"host {number}") for number in range(4)]
    keeper, silent = sites[0], sites[3]
    crew = {site: [site.house.worker() for _ in range(5)] for site in sites[:3]}
    crew[silent] = [silent.house.worker() for _ in range(workers)]
    held = {
        site: [each.session(f"{site.machine.host} {n}", source="cli") for n, each in enumerate(who)]
        for site, who in crew.items()
    }
    loud = [each for site in sites[:3] for each in crew[site]]
    assert codes(*pass_time(keeper, 60, *loud, *crew[silent])) == []
    early = pass_time(keeper, 150, *loud)
    ended = ["reaped:lease_expired"] * workers
    assert codes(*early) == ([] if doubted else ended)
    assert {each.holding.code for each in early[-1].held} == ({"mass_death"} if doubted else set())
    late = pass_time(keeper, 300, *loud)
    assert codes(*late) == (ended if doubted else [])
    assert not any(keeper.find(each.id).is_open for each in held[silent])
    for site in sites[:3]:
        for session in held[site]:
            assert session.append(role="user", content="never away") == 1
    for session in held[silent]:
        session.revive()
        assert session.append(role="user", content="back again") == 1
    for site in sites:
        site.close()


def _copy(source: Path, target: Path) -> None:
    """What a backup and its restoring do: the target's content becomes the source's."""
    with apsw.Connection(str(source)) as old, apsw.Connection(str(target)) as new:
        new.set_busy_timeout(240_000)
        with new.backup("main", old, "main") as copying:
            copying.step()
    old.close()
    new.close()
