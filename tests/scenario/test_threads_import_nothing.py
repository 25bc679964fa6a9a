"""Threads that must live load no module: that needs descriptors, and a lock others may hold."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

BOUND = 240.0

WATCHED = """
import sys, threading, time
THREADS = ("sexton-beat", "sexton-deadline", "sexton-finalizers", "sexton-keeper",
           "sexton-lookout", "sexton-notices", "sexton-writer")
loaded = []

class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):  # asked only for what is not loaded yet
        if threading.current_thread().name in THREADS:
            loaded.append((threading.current_thread().name, name))

sys.meta_path.insert(0, Finder)

def until(holds):
    deadline = time.monotonic() + 240
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)

def running():
    return {thread.name for thread in threading.enumerate()}
"""

AGENT = """
import sexton.liveness.heartbeat
sexton.liveness.heartbeat.RETRY = 0.05
import sexton
house = sexton.open(sys.argv[1], config=sys.argv[2])
worker = house.worker()
session = worker.session("chat", source="cli")
session.append(role="user", content="one")

def beat():
    [found] = [each for each in house.ledger.workers.all() if each.id == worker.id]
    return found.beat

until(lambda: beat() > 2)
[member] = sexton.liveness.heartbeat.HEARTBEAT.members()
tend, failures = type(member).tend, []
def failing(self):
    if len(failures) < 3:
        failures.append(1)
        raise OSError(24, "Too many open files")
    return tend(self)
type(member).tend = failing
until(lambda: len(failures) == 3)
before = beat()
until(lambda: beat() > before)
house.rules(None)
forgotten = house.worker()
forgotten_id = forgotten.id
del forgotten
import gc
gc.collect()
until(lambda: all(each.id != forgotten_id for each in house.ledger.workers.all()))
assert "sexton-beat" in running()
"""

KEEPER = """
import logging
import sexton.keeper.keeper
sexton.keeper.keeper.LOOK_EVERY = 0.01
logging.basicConfig(stream=sys.stderr)
import sexton
house = sexton.open(sys.argv[1], config=sys.argv[2])
with house.worker() as worker:
    session = worker.session("chat", source="telegram")
    session.append(role="user", content="one")
    session.end()
keeper = house.keep()
assert {"sexton-keeper"} <= running()

def swept():
    last = house.ledger.workers.last_sweep()
    return None if last is None else last.at

def jobs():
    return [each.state for each in house.ledger.finalizing.page(Wanted(), None, 9)]

from sexton.finalizers.model import Wanted
until(lambda: swept() is not None and jobs() and set(jobs()) <= {"done", "dead"})
assert {"sexton-notices", "sexton-finalizers"} <= running()
estate, failures = keeper._estate, []
def failing():
    if len(failures) < 3:
        failures.append(1)
        raise RuntimeError("nothing works")
    return estate()
keeper._estate = failing
until(lambda: len(failures) == 3)
before = swept()
until(lambda: swept() > before)
"""

LOOKOUT = """
import sexton.web.lookout
from sexton.web.lookout import Lookout
sexton.web.lookout.LISTEN_EVERY = 0.01
import sexton
house = sexton.open(sys.argv[1], config=sys.argv[2])
calls, estate = [], type(house).estate
def counted(self, *given, **options):
    calls.append(1)
    if len(calls) in (3, 4):
        raise RuntimeError("nothing works")
    return estate(self, *given, **options)
type(house).estate = counted
lookout = Lookout(house)
lookout.start()
until(lambda: len(calls) > 6)
lookout.stop()
"""

END = """
import json, os
print(json.dumps(sorted(set(loaded))), flush=True)
os._exit(0)
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Settings under which a keeper has all of its work: a home, a finalizer, somebody to tell."""
    home = tmp_path / "hermes"
    home.mkdir()
    with apsw.Connection(str(home / "state.db")) as db:
        db.execute("CREATE TABLE schema_version (version); INSERT INTO schema_version VALUES (22)")
        db.execute(
            "CREATE TABLE sessions (id, source, started_at, ended_at, compression_failure_error,"
            " compression_fallback_streak)"
        )
        db.execute("CREATE TABLE messages (id, session_id, role, content, timestamp)")
    file = tmp_path / "sexton.yaml"
    file.write_text(
        json.dumps(
            {
                "homes": [{"path": str(home), "name": "work"}],
                "keeper": {"sweep_every": "1s"},
                "liveness": {"beat_every": "1s"},
                "finalizers": [{"name": "log", "kind": "command", "command": ["true"]}],
                "notify": {"webhook": "http://127.0.0.1:9/", "events": ["reset"]},
            }
        )
    )
    return file


@pytest.mark.parametrize("program", [AGENT, KEEPER, LOOKOUT], ids=["agent", "keeper", "lookout"])
def test_a_thread_that_must_live_loads_no_module(
    engine_url: str, config: Path, program: str
) -> None:
    environment = {n: v for n, v in os.environ.items() if not n.startswith("SEXTON_")}
    done = subprocess.run(
        [sys.executable, "-c", WATCHED + program + END, engine_url, str(config)],
        env=environment, stdout=subprocess.PIPE, text=True, check=True, timeout=BOUND,
    )  # fmt: skip
    assert json.loads(done.stdout) == []
