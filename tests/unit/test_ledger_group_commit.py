"""Many threads share a commit and do not hurt one another."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from sexton.errors import LedgerBusy, LedgerGone
from sexton.ledger.database import Transaction
from sexton.ledger.group_commit import (
    IN_VAIN,
    IN_VAIN_ASLEEP,
    RUSH,
    Batch,
    GroupCommit,
    Job,
    Ticket,
    Together,
)
from sexton.ledger.opening import open_ledger
from sexton.ledger.sqlite import SqliteDatabase
from sexton.ledger.whereabouts import Whereabouts
from sexton.model.session import Session
from sexton.ports import Appended
from sexton.testing.ledger_contract_samples import born, heard, race, say

THREADS = 64


class Slip(Exception):
    """What a job does wrong."""


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    opened = SqliteDatabase(tmp_path / "ledger.db")
    yield opened
    opened.close()


def publish(database: SqliteDatabase, number: int) -> int:
    """A write that is refused by the job itself for every third number."""

    def job(tx: Transaction) -> int:
        row = tx.one("publish_policies", digest=f"d{number}", text="", actor="test", now=0)
        assert row is not None
        if number % 3 == 0:
            raise Slip(number)
        serial: int = row[0]
        return serial

    try:
        return database.write(job)
    except Slip:
        return 0


def test_a_failing_job_does_not_hurt_those_that_share_its_commit(database: SqliteDatabase) -> None:
    serials = race([partial(publish, database, number) for number in range(THREADS)])
    good = [serial for number, serial in enumerate(serials) if number % 3]
    assert sorted(good) == list(range(1, len(good) + 1))
    rows = database.read(lambda tx: tx.all("policies_in_force"))
    assert rows[0][0] == len(good)


def size(job: Job[None]) -> int:
    """How many callers wait for the job."""
    return len(job.tickets) if isinstance(job, Together) else 1


class Crowd:
    """Callers who come while another job is being committed; how many were in each commit."""

    def __init__(self, *common: type[Exception]) -> None:
        self.sizes: list[int] = []
        self._group: GroupCommit[None] = GroupCommit(self._commit, threading.RLock(), common)
        self._begun, self._all_wait = threading.Event(), threading.Event()

    def write(self, jobs: list[Job[None]]) -> list[object]:
        """What each job returned, or failed with."""
        calls = [partial(self._call, job) for job in jobs]
        found = race([partial(self._group.run, self._first), *calls, partial(self._watch, jobs)])
        self._group.stop()
        return found[1:-1]

    def _commit(self, job: Job[None], _: bool) -> object:
        self.sizes.append(size(job))
        return job(None)

    def _first(self, _: None) -> None:
        self._begun.set()
        assert self._all_wait.wait(240)

    def _call(self, job: Job[None]) -> object:
        assert self._begun.wait(240)
        try:
            return self._group.run(job)
        except Slip:
            return Slip

    def _watch(self, jobs: list[Job[None]]) -> None:
        deadline = time.monotonic() + 60
        while len(self._group._boarding.tickets) < len(jobs) and time.monotonic() < deadline:
            time.sleep(0.001)
        self._all_wait.set()


def slip(_: None) -> None:
    raise Slip


def test_jobs_that_wait_together_are_committed_together() -> None:
    crowd = Crowd()
    assert crowd.write([lambda _: 1] * THREADS) == [1] * THREADS
    assert crowd.sizes == [1, THREADS]


def test_where_a_job_fails_each_is_committed_by_itself() -> None:
    crowd = Crowd()
    assert crowd.write([lambda _: 1, slip, lambda _: 3]) == [1, Slip, 3]
    assert crowd.sizes == [1, 3, 1, 1, 1]


def test_what_would_fail_for_everybody_is_tried_once() -> None:
    crowd = Crowd(Slip)
    assert crowd.write([lambda _: 1, slip, lambda _: 3]) == [Slip] * 3
    assert crowd.sizes == [1, 3]


class Slow:
    """A commit that waits as for a disk; how many jobs were in each."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.group: GroupCommit[None] = GroupCommit(self._commit, threading.RLock())

    def write(self, times: int) -> set[threading.Thread]:
        """Commit so often; the threads that did it."""
        return {self.group.run(lambda _: threading.current_thread()) for _ in range(times)}

    def _commit(self, job: Job[None], _: bool) -> object:
        self.sizes.append(size(job))
        threading.Event().wait(0.002)
        return job(None)


def test_threads_that_come_back_at_once_share_the_next_commit_too() -> None:
    slow = Slow()
    race([partial(slow.write, 40)] * 8)
    slow.group.stop()
    assert sum(slow.sizes) == 8 * 40
    assert len(slow.sizes) < 8 * 40 / 5


class Clockwork:
    """Stands for the lock a batch is waited for with: every wait is in vain, but for a plan."""

    def __init__(self, moves: dict[int, Callable[[], None]]) -> None:
        self.waits = 0
        self._moves = moves

    def acquire(self, *, timeout: float) -> bool:
        assert timeout > 0
        self.waits += 1
        self._moves.get(self.waits, lambda: None)()
        return False


@pytest.mark.parametrize(
    ("awake", "rushes", "waits"),
    [(8, 0, IN_VAIN), (8, 3, 3 + IN_VAIN), (7, 0, IN_VAIN_ASLEEP), (7, 3, 3 + IN_VAIN_ASLEEP)],
)
def test_whoever_was_not_let_run_yet_is_waited_for_longer(
    awake: int, rushes: int, waits: int
) -> None:
    group: GroupCommit[None] = GroupCommit(lambda job, _: job(None), threading.RLock())
    left: Batch[None] = Batch()
    left.tickets = [Ticket(lambda _: None) for _ in range(8)]
    left.awake = awake
    group._expected = 1000

    def board() -> None:
        group._boarding.tickets += [Ticket(lambda _: None) for _ in range(RUSH)]

    board()
    # The first wait finds all that was there before.
    clockwork = Clockwork({number: board for number in range(2, 2 + rushes)})
    group._wanted = clockwork  # type: ignore[assignment]
    group._gather(left)
    assert clockwork.waits == 1 + waits
    assert group._expected == 1


def test_those_who_do_not_come_back_are_not_waited_for() -> None:
    slow, me = Slow(), threading.current_thread()
    for _ in range(10):
        race([partial(slow.write, 3)] * 8)
        assert max(slow.sizes[-5:]) > 1
        assert me in slow.write(3)  # it is alone again
    slow.group.stop()


def test_after_the_stop_jobs_run_in_the_thread_of_their_caller(database: SqliteDatabase) -> None:
    database.stop()
    assert publish(database, 1) == 1
    assert sorted(race([partial(publish, database, n) for n in (2, 4, 5)])) == [2, 3, 4]


def test_a_thread_that_was_lost_is_replaced_and_the_stop_waits_for_none(
    database: SqliteDatabase,
) -> None:
    group = database._group
    dead = threading.Thread(target=int)
    dead.start()
    dead.join(240)
    for turn, lost in enumerate((dead, threading.Thread(target=int))):  # one was never started
        group._thread = lost
        numbers = range(100 * turn + 1, 100 * turn + 91, 3)
        assert len(race([partial(publish, database, n) for n in numbers])) == 30
        assert group._thread is not lost
    orphan = threading.Thread(target=group._loop, daemon=True)
    orphan.start()
    stopping = threading.Thread(target=group.stop)
    stopping.start()
    stopping.join(240)
    assert not stopping.is_alive()


def test_what_was_stored_in_a_file_that_is_gone_is_not_stored_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = open_ledger(str(tmp_path / "ledger.db"))
    sessions = [born(ledger, f"{number}") for number in range(8)]
    looks = count()
    monkeypatch.setattr(Whereabouts, "are_known", lambda _: bool(next(looks) % 3))
    refused = {session.ref: set[int]() for session in sessions}

    def write(session: Session) -> None:
        for number in range(20):
            try:
                say(ledger, session, number)
            except LedgerGone:
                refused[session.ref].add(number)

    race([partial(write, session) for session in sessions])
    monkeypatch.undo()
    for session in sessions:
        stored = [each.content for each in heard(ledger, session)]
        assert stored == sorted(set(stored))
        assert refused[session.ref] >= set(range(20)) - set(stored)
    assert any(refused.values())
    ledger.close()


def test_an_interrupt_is_heard_also_while_a_failure_is_noted() -> None:
    def commit(job: Job[None], _: bool) -> object:
        try:
            return job(None)
        finally:
            raise KeyboardInterrupt

    group: GroupCommit[None] = GroupCommit(commit, threading.RLock())
    with pytest.raises(KeyboardInterrupt):
        group.run(slip)
    with pytest.raises(KeyboardInterrupt):  # and hands nobody else's turn on for ever
        group.run(slip)


def test_a_lock_that_is_not_let_go_fails_all_that_wait_together_and_in_time(
    tmp_path: Path,
) -> None:
    path = tmp_path / "ledger.db"
    ledger = open_ledger(str(path), patience=1)
    begun = born(ledger)
    refused: list[type] = []

    def append() -> None:
        try:
            say(ledger, begun, "x")
        except LedgerBusy as problem:
            refused.append(type(problem))

    with locked(path):
        started = time.monotonic()
        race([append] * 16)
        assert len(refused) == 16
        assert time.monotonic() - started < 6  # not one after the other
    assert say(ledger, begun, "after") == Appended(1)
    assert [each.content for each in heard(ledger, begun)] == ["after"]
    ledger.close()


def test_a_lock_that_is_let_go_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    ledger = open_ledger(str(path))
    begun = born(ledger)
    with locked(path, seconds=2):
        appended = race([lambda: say(ledger, begun, "x")] * 4)
    assert sorted(each.last_seq for each in appended if each) == [1, 2, 3, 4]
    ledger.close()


def test_where_no_thread_can_be_started_a_write_is_durable_all_the_same(
    database: SqliteDatabase,
) -> None:
    threading.stack_size(1 << 46)
    try:
        with pytest.raises(RuntimeError):
            threading.Thread(target=print).start()
        assert publish(database, 1) == 1
    finally:
        threading.stack_size(0)
    assert publish(database, 2) == 2


HOLDER = """
import apsw, select, sys
connection = apsw.Connection(sys.argv[1])
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
select.select([sys.stdin], [], [], float(sys.argv[2]))
connection.execute("ROLLBACK")
"""


@contextmanager
def locked(path: Path, seconds: float = 60.0) -> Iterator[None]:
    """Another process holds the ledger's write lock, for that long at most."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path), str(seconds)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        yield
