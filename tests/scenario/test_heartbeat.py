"""A thread per ledger keeps the workers of a process alive, whatever happens to it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path

import apsw
import pytest

from sexton.core.clock import SystemClock
from sexton.core.session import Session, State
from sexton.liveness.policy import LivenessPolicy
from sexton.rules.rulebook import Rulebook
from sexton.settings.settings_values import Settings
from sexton.store.opening import open_ledger
from sexton.wiring import Sexton

BOUND = 240.0

FORKS = """
import os, signal, sys
if "stopped" in sys.argv:  # before the hooks of the ledger and of the heartbeat
    os.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), signal.SIGSTOP))
import sexton
house = sexton.open(sys.argv[1])
worker = house.worker()
session = worker.session("chat", source="cli")
session.append(role="user", content="one")
child = os.fork()
if child:
    print(session.id, child, flush=True)
    os._exit(0)
for line in sys.stdin:  # idle until then
    session.append(role="user", content="two")
    print("stored", flush=True)
"""


@contextmanager
def running(program: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    environment = {n: v for n, v in os.environ.items() if not n.startswith("SEXTON_")}
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


def said(process: subprocess.Popen[str]) -> list[str]:
    assert process.stdout is not None
    return process.stdout.readline().split()


def tell(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + BOUND
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def house(engine_url: str) -> Iterator[Sexton]:
    with Sexton(open_ledger(engine_url, patience=BOUND), Settings()) as house:
        yield house


def the(house: Sexton, id: str) -> Session:
    return house.ledger.index.find("native", id)[0]


def holds(house: Sexton, id: str, pid: int) -> bool:
    session = the(house, id)
    return session.is_open and pid in [h.worker.identity.pid for h in session.holders]


def test_a_forked_child_holds_what_it_inherited_while_it_lives(
    house: Sexton, engine_url: str
) -> None:
    with running(FORKS, engine_url) as process:
        id, pid = said(process)
        child = int(pid)
        try:
            process.wait(BOUND)
            until(lambda: holds(house, id, child))
            for _ in range(2):  # the parent is dead, the child is idle
                house.sweep()
                assert holds(house, id, child)
            tell(process)
            assert said(process) == ["stored"]
            assert the(house, id).message_count == 2
        finally:
            os.kill(child, signal.SIGKILL)

        def reaped() -> bool:
            house.sweep()
            return the(house, id).state is not State.OPEN

        until(reaped)
        assert (the(house, id).end_reason or "").startswith("reaped:")


def test_a_child_opens_again_what_was_reaped_before_it_could_hold_it(
    house: Sexton, engine_url: str
) -> None:
    with running(FORKS, engine_url, "stopped") as process:
        id, pid = said(process)
        child = int(pid)
        try:
            process.wait(BOUND)

            def reaped() -> bool:
                house.sweep()
                return the(house, id).state is not State.OPEN

            until(reaped)
            os.kill(child, signal.SIGCONT)
            until(lambda: holds(house, id, child))
            house.sweep()
            tell(process)
            assert said(process) == ["stored"]
            assert the(house, id).message_count == 2
        finally:
            os.kill(child, signal.SIGKILL)


TAKES = """
import os, sys, threading, sexton
from sexton.liveness import membership
membership.SETTLE = 3600.0  # only the end of its parent makes the child take the session
house = sexton.open(sys.argv[1])
session = house.worker().session("talk", source="chat")
parent, (ended, ends) = os.getpid(), os.pipe()
if os.fork():
    sys.exit()
book, messages, taken, refused, asked = house.ledger.book, house.ledger.messages, *(
    threading.Event() for _ in range(3)
)
join, append, find = book.join, messages.append, house.ledger.index.find

def joining(*given):
    joined = join(*given)
    taken.set()
    assert refused.wait(240)
    asked.wait(0.5)  # whoever does not wait for us asks why it was refused
    return joined

def appending(*given):
    stored = append(*given)
    if stored is None:
        refused.set()
    return stored

def finding(*given):
    if threading.current_thread() is threading.main_thread():
        asked.set()
    return find(*given)

book.join, messages.append, house.ledger.index.find = joining, appending, finding
os.close(ends)
os.read(ended, 1)  # until the parent is gone
assert taken.wait(240)
print(session.append(role="user", content="on"), session.epoch, flush=True)
os._exit(0)
"""


def test_a_child_writes_on_while_its_heartbeat_takes_what_it_inherited(engine_url: str) -> None:
    with running(TAKES, engine_url) as process:
        assert said(process) == ["1", "2"]


EXECUTES = """
import os, sys, sexton
from sexton.liveness import membership
house = sexton.open(sys.argv[1])
worker = house.worker()
session = worker.session("chat", source="cli")
settle, membership.SETTLE = membership.SETTLE, 3600.0  # however long they take to be gone
other = os.fork()
if not other:
    os.execv("/bin/cat", ["cat"])
gone = os.fork()
if not gone:
    os._exit(0)
os.waitpid(gone, 0)
membership.SETTLE = settle
stays = os.fork()
if stays:
    print(session.id, other, gone, stays, flush=True)
sys.stdin.read()
os._exit(0)
"""


def test_a_child_that_executes_or_exits_at_once_leaves_nothing_behind(
    house: Sexton, engine_url: str
) -> None:
    with running(EXECUTES, engine_url) as process:
        id, other, gone, stays = said(process)
        until(lambda: holds(house, id, int(stays)))
        pids = {worker.identity.pid for worker in house.ledger.workers.all()}
        assert pids.isdisjoint({int(other), int(gone)})
        assert {process.pid, int(stays)} <= pids
        assert process.stdin is not None
        process.stdin.close()
        process.wait(BOUND)


FORGETS = """
import gc, sys, threading, time, weakref
from datetime import timedelta
from sexton.wiring import Sexton
from sexton.store.opening import open_ledger
from sexton.liveness.policy import LivenessPolicy
from sexton.rules.rulebook import Rulebook
from sexton.settings.settings_values import Settings

def until(holds):
    deadline = time.monotonic() + 240
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)

def threads():
    return sum(thread.name == "sexton-beat" for thread in threading.enumerate())

def left(id):
    return id not in [w.id for w in house.ledger.workers.all()]

often = LivenessPolicy(beat_every=timedelta(seconds=0.1))
house = Sexton(open_ledger(sys.argv[1]), Settings(rulebook=Rulebook(liveness=often)))
house.publish()
workers = [house.worker() for _ in range(20)]
assert threads() == 1
worker = workers[-1]
with worker.session("turns", source="telegram").turn():
    pass
session = worker.session("chat", source="cli")
id, kept = worker.id, weakref.ref(worker.membership)
del worker, workers[-1]
gc.collect()
assert kept() is not None and not left(id)
session.append(role="user", content="a session keeps its worker")
name = session.id
del session
gc.collect()
assert kept() is None
until(lambda: left(id))
[ended] = house.ledger.index.find("native", name)
assert ended.end_reason == "closed"
workers.clear()
gc.collect()
until(lambda: threads() == 0)
assert house.ledger.workers.all() == []
again = house.worker()
assert threads() == 1 and not left(again.id)
again.leave()
until(lambda: threads() == 0)
print("done", flush=True)
"""


@pytest.mark.slow
def test_a_forgotten_worker_is_collected_and_leaves_and_all_share_one_thread(
    engine_url: str,
) -> None:
    with running(FORGETS, engine_url) as process:
        assert said(process) == ["done"]


EXHAUSTED = """
import logging, os, resource, sys, time
from datetime import timedelta
from pathlib import Path
from sexton.wiring import Sexton
from sexton.store.opening import open_ledger
from sexton.liveness.policy import LivenessPolicy
from sexton.rules.rulebook import Rulebook
from sexton.settings.settings_values import KeeperSettings, Settings
from sexton.core.clock import SystemClock
import sexton.liveness.heartbeat
sexton.liveness.heartbeat.RETRY = 0.05

class Clock(SystemClock):
    def monotonic(self):
        with open(os.devnull):  # fails where there are no descriptors left
            return super().monotonic()

lines = {"sexton.agent": 0, "sexton.keeper": 0}
class Heard(logging.Handler):
    def emit(self, record):
        lines[record.name] = lines.get(record.name, 0) + 1
logging.getLogger("sexton").addHandler(Heard())
logging.getLogger("sexton").propagate = False

def until(holds):
    deadline = time.monotonic() + 240
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)

beats = LivenessPolicy(beat_every=timedelta(seconds=0.05))
settings = Settings(
    rulebook=Rulebook(liveness=beats), keeper=KeeperSettings(sweep_every=timedelta(seconds=0.05))
)
house = Sexton(open_ledger(sys.argv[1]), settings, clock=Clock())
house.publish()
worker = house.worker()
house.keep()

def mine():
    [found] = [w for w in house.ledger.workers.all() if w.id == worker.id]
    return found.beat

def swept():
    last = house.ledger.workers.last_sweep()
    return None if last is None else last.at

until(lambda: mine() > 2 and swept() is not None)
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
until(lambda: lines["sexton.agent"] and lines["sexton.keeper"])
told, ticks = dict(lines), []
until(lambda: ticks.append(1) or len(ticks) > 100)  # many more failures
assert lines["sexton.agent"] == told["sexton.agent"], lines
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
beat, sweep = mine(), swept()
until(lambda: mine() > beat + 2 and swept() > sweep)
print("done", flush=True)
os._exit(0)
"""


@pytest.mark.slow
def test_heartbeat_and_keeper_outlive_a_process_without_descriptors(engine_url: str) -> None:
    with running(EXHAUSTED, engine_url) as process:
        assert said(process) == ["done"]


class Noticed(SystemClock):
    """A clock that says when the heartbeat of its ledger begins to tend a worker."""

    def __init__(self) -> None:
        self.asked = threading.Event()

    def monotonic(self) -> float:
        if threading.current_thread().name == "sexton-beat":
            self.asked.set()
        return super().monotonic()


def test_a_ledger_that_does_not_answer_delays_the_heartbeat_of_no_other(
    tmp_path: Path, engine_url: str
) -> None:
    often = LivenessPolicy(beat_every=timedelta(seconds=0.05))
    settings, clock = Settings(rulebook=Rulebook(liveness=often)), Noticed()
    silent = Sexton(open_ledger(str(tmp_path / "silent.db"), patience=240), settings, clock=clock)
    with closing(apsw.Connection(str(tmp_path / "silent.db"))) as other, silent:
        silent.publish()
        stuck = silent.worker()
        with Sexton(open_ledger(engine_url), settings) as house:
            house.publish()
            worker = house.worker()
            other.set_busy_timeout(240_000)  # the heartbeat writes too
            other.execute("BEGIN IMMEDIATE")
            try:
                clock.asked.clear()
                assert clock.asked.wait(BOUND)
                first = house.ledger.workers.beat_of(worker.id) or 0
                until(lambda: (house.ledger.workers.beat_of(worker.id) or 0) > first + 2)
            finally:
                other.execute("ROLLBACK")
            stuck_at = silent.ledger.workers.beat_of(stuck.id) or 0
            until(lambda: (silent.ledger.workers.beat_of(stuck.id) or 0) > stuck_at)
