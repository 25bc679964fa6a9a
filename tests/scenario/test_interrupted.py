"""Signal handlers that write, close and fork while their thread uses the ledger."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import pytest

import sexton
from sexton.sessions.message_store import LedgerMessages
from sexton.store.opening import open_ledger
from tests.contract.ledger_contract_samples import born
from tests.kit.postgres_server import PostgresServer

pytestmark = pytest.mark.slow

WRITES_IN_ITS_HANDLER = """
import os, signal, sys, sexton, sexton.errors
house = sexton.open(sys.argv[1]); worker = house.worker(); session = worker.session("k")
ending = False
def goodbye():
    session.append(role="user", content="goodbye"); worker.leave(); os._exit(0)
def handle(*_):
    global ending
    try:
        goodbye()
    except sexton.errors.LedgerBusy:
        ending = True
signal.signal(signal.SIGTERM, handle)
print("ready", flush=True)
while True:
    session.append(role="user", content="x")
    if ending: goodbye()
"""


def test_a_handler_writes_or_is_refused_at_once_at_any_moment(tmp_path: Path) -> None:
    for number in range(10):
        file = tmp_path / f"{number}.db"
        with subprocess.Popen(
            [sys.executable, "-c", WRITES_IN_ITS_HANDLER, str(file)], stdout=subprocess.PIPE
        ) as child:
            assert child.stdout is not None
            child.stdout.readline()
            child.send_signal(signal.SIGTERM)
            try:
                assert child.wait(240) == 0
            finally:
                child.kill()


INTERRUPTED_ALL_THE_TIME = """
import itertools, random, signal, sys, sexton, sexton.errors
house = sexton.open(sys.argv[1]); worker = house.worker()
spoken, noted = worker.session("spoken"), worker.session("noted")
heard, chance = [], random.Random(1)
times = itertools.count(1)
def handle(*_):
    try:
        heard.append(noted.append(role="user", content="n"))
    except sexton.errors.LedgerBusy:
        pass  # it was in the middle of a write
    if next(times) == 300:
        raise SystemExit(7)
    signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.0001, 0.003))
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.001)
said = 0
try:
    for said in itertools.count(1):
        assert spoken.append(role="user", content=str(said)) == said
finally:
    print(spoken.id, said, [each.seq for each in noted.messages()] == heard, flush=True)
"""


def test_a_write_that_a_handler_interrupts_again_and_again_is_stored_once(tmp_path: Path) -> None:
    file = tmp_path / "ledger.db"
    child = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_ALL_THE_TIME, str(file)],
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert child.returncode == 7, child.stderr
    id, begun, notes_are_whole = child.stdout.split()
    assert notes_are_whole == "True"
    with sexton.open(str(file)) as house:
        page = partial(house.ledger.messages.page, house.find(id).ref, byte_limit=10_000_000)
        stored = [each.content for after in range(0, int(begun) + 1, 256) for each in page(after)]
    # The last one was interrupted by the end of the program: it may be there, but not twice.
    assert stored in [[str(n) for n in range(1, int(begun) + more)] for more in (0, 1)]


INTERRUPTED_IN_LONG_WRITES = """
import signal, sys, sexton, sexton.errors
house = sexton.open(sys.argv[1]); worker = house.worker()
spoken, noted = worker.session("spoken"), worker.session("noted")
heard = []
refused = []
def handle(*_):
    sys.settrace(None)
    try:
        heard.append(noted.append(role="user", content="n"))
    except sexton.errors.LedgerBusy as problem:
        refused.append(problem)
signal.signal(signal.SIGALRM, handle)
long = [{"role": "user", "content": "x"}] * 300
def writes(at):
    seen = 0
    def look(frame, event, _):
        nonlocal seen
        if "sexton" in frame.f_code.co_filename:
            seen += 1
            if seen == at:
                signal.raise_signal(signal.SIGALRM)
        return look
    sys.settrace(look)
    try:
        last = spoken.append_many(long)
    finally:
        sys.settrace(None)
    return last, seen
assert writes(0)[0] == 300
last, lines = writes(0)
moments = sorted({1 + lines * number // 60 for number in range(60)})
for number, moment in enumerate(moments, 3):
    assert writes(moment)[0] == 300 * number
assert [each.seq for each in noted.messages()] == heard
print(bool(heard) and bool(refused) and len(heard + refused) == len(moments), flush=True)
"""


def test_a_handler_takes_nothing_from_a_long_write_that_it_interrupts(tmp_path: Path) -> None:
    child = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_IN_LONG_WRITES, str(tmp_path / "ledger.db")],
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert child.returncode == 0, child.stderr
    assert child.stdout.strip() == "True"


WAITS_FOR_A_LOCK = """
import signal, sys, sexton, sexton.errors
house = sexton.open(sys.argv[1]); worker = house.worker(); session = worker.session("k")
def handle(*_):
    try:
        session.append(role="user", content="from the handler")
    except sexton.errors.LedgerBusy:
        print("refused", flush=True)
signal.signal(signal.SIGALRM, handle)
print("ready", flush=True)
sys.stdin.readline()
signal.setitimer(signal.ITIMER_REAL, 0.3)
session.append(role="user", content="first")
house.close()
"""


def test_a_handler_is_refused_at_once_while_its_thread_waits_for_another_process(
    tmp_path: Path,
) -> None:
    file = tmp_path / "ledger.db"
    with subprocess.Popen(
        [sys.executable, "-c", WAITS_FOR_A_LOCK, str(file)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as child:  # fmt: skip
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        other = apsw.Connection(str(file))
        other.set_busy_timeout(240_000)  # the heartbeat writes too
        other.execute("BEGIN IMMEDIATE")
        child.stdin.write("go\n")
        child.stdin.flush()
        assert child.stdout.readline() == "refused\n"
        other.execute("ROLLBACK")
        try:
            assert child.wait(240) == 0
        finally:
            child.kill()
            other.close()
    with sexton.open(str(file)) as house, house.worker() as worker:
        stored = [each.content for each in worker.session("k").messages()]
    assert stored == ["first"]


CLOSES_IN_ITS_HANDLER = """
import apsw, signal, sys, threading, sexton, sexton.errors
house = sexton.open(sys.argv[1]); session = house.worker().session("k", source="chat")
def say(times, content):
    for _ in range(times):
        session.append(role="user", content=content)
other = apsw.Connection(sys.argv[1]); other.set_busy_timeout(240_000)
for _ in range(200):  # until some have met, and a thread writes for all of them
    together = [threading.Thread(target=say, args=(30, "t")) for _ in range(8)]
    other.execute("BEGIN IMMEDIATE")  # nobody is done before the others have come
    for each in together: each.start()
    other.execute("ROLLBACK")
    for each in together: each.join()
    if "sexton-writer" in {each.name for each in threading.enumerate()}: break
else: raise SystemExit("nobody met")
def handle(*_):
    try:
        house.close()
    except sexton.errors.LedgerBusy:
        pass  # it is closed all the same; its worker could not leave in the middle of a write
    raise SystemExit(7)
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.05)
say(1_000_000, "x" * 20_000)
"""

FORKS_IN_A_READ = """
import os, sys, sexton
house = sexton.open(sys.argv[1]); session = house.worker().session("k", source="chat")
session.append(role="user", content="x")
database = house.ledger.messages._database
child = database.read(lambda tx: (os.fork(), tx.one("ledger_row"))[0])
assert [each.content for each in session.messages()][0] == "x"
session.append(role="user", content="y")
if not child:
    house.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert len(list(session.messages())) == 3
house.close()
"""


def run_alone(program: str, file: Path) -> int:
    """The exit code of a program of its own; whoever hangs is not waited for."""
    return subprocess.run(
        [sys.executable, "-c", program, str(file)], timeout=240, check=False
    ).returncode


def test_a_signal_handler_may_close_the_ledger_in_the_middle_of_a_write(tmp_path: Path) -> None:
    for number in range(5):
        assert run_alone(CLOSES_IN_ITS_HANDLER, tmp_path / f"{number}.db") == 7


def test_a_signal_handler_may_fork_in_the_middle_of_a_read(tmp_path: Path) -> None:
    assert run_alone(FORKS_IN_A_READ, tmp_path / "ledger.db") == 0


class Late(Exception):
    """What a program raises that does not want to wait any longer."""


def test_what_a_handler_raises_while_the_server_works_comes_out_and_the_next_call_is_well(
    postgres_server: PostgresServer,
) -> None:
    def give_up(*_: object) -> None:
        raise Late

    before = signal.signal(signal.SIGALRM, give_up)
    with closing(open_ledger(postgres_server.create_database())) as ledger:
        assert isinstance(ledger.messages, LedgerMessages)
        database = ledger.messages._database

        def interrupted(call: Callable[[Callable[[Any], Any]], Any]) -> None:
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            call(lambda tx: tx._connection.execute("SELECT pg_sleep(60)"))

        try:
            for call in (database.write, database.read):
                with pytest.raises(Late):
                    interrupted(call)
                assert len(ledger.workers.all()) == 0
                assert born(ledger, call.__name__).key == call.__name__
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
