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

from sexton.core.session import Session
from sexton.errors import LedgerBusy, LedgerGone
from sexton.sessions.message_store import LedgerMessages
from sexton.sessions.model import Appended
from sexton.store import group_commit, sqlite_file
from sexton.store.database import Transaction
from sexton.store.group_commit import (
    IN_VAIN,
    IN_VAIN_ASLEEP,
    RUSH,
    Batch,
    GroupCommit,
    Job,
    Ticket,
)
from sexton.store.opening import open_ledger
from sexton.store.sqlite import SqliteDatabase
from sexton.store.sqlite_file import Whereabouts
from tests.contract.ledger_contract_samples import born, heard, race, say

THREADS = 64


def wait_until(holds: Callable[[], object]) -> None:
    for _ in range(240_000):
        if holds():
            return
        time.sleep(0.001)
    raise AssertionError("it never came true")


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


Commit = list[None]
"""A commit as its jobs get it: each adds itself."""


class Crowd:
    """Callers who come while another job is being committed; how many were in each commit."""

    def __init__(self, *common: type[Exception]) -> None:
        self.commits: list[Commit] = []
        self._group: GroupCommit[Commit] = GroupCommit(self._commit, threading.RLock(), common)
        self._begun, self._all_wait = threading.Event(), threading.Event()

    @property
    def sizes(self) -> list[int]:
        return [len(commit) for commit in self.commits]

    def write(self, jobs: list[Job[Commit]]) -> list[object]:
        """What each job returned, or failed with."""
        calls = [partial(self._call, job) for job in jobs]
        found = race([partial(self._group.run, self._first), *calls, partial(self._watch, jobs)])
        self._group.stop()
        return found[1:-1]

    def _commit(self, job: Job[Commit], _: bool) -> object:
        self.commits.append([])
        return job(self.commits[-1])

    def _first(self, commit: Commit) -> None:
        commit.append(None)
        self._begun.set()
        assert self._all_wait.wait(240)

    def _call(self, job: Job[Commit]) -> object:
        def counted(commit: Commit) -> object:
            commit.append(None)
            return job(commit)

        assert self._begun.wait(240)
        try:
            return self._group.run(counted)
        except Slip:
            return Slip

    def _watch(self, jobs: list[Job[Commit]]) -> None:
        try:
            wait_until(lambda: len(self._group._boarding.tickets) == len(jobs))
        finally:
            self._all_wait.set()


def slip(_: object) -> None:
    raise Slip


def test_jobs_that_wait_together_are_committed_together() -> None:
    crowd = Crowd()
    assert crowd.write([lambda _: 1] * THREADS) == [1] * THREADS
    assert crowd.sizes == [1, THREADS]


def test_where_a_job_fails_each_is_committed_by_itself() -> None:
    crowd = Crowd()
    assert crowd.write([lambda _: 1, slip, lambda _: 3]) == [1, Slip, 3]
    assert len(crowd.commits) == 1 + 1 + 3


def test_what_would_fail_for_everybody_is_tried_once() -> None:
    crowd = Crowd(Slip)
    assert crowd.write([lambda _: 1, slip, lambda _: 3]) == [Slip] * 3
    assert len(crowd.commits) == 1 + 1


class Rush:
    """Threads that write again and again; how many jobs were in each commit.

    The first thread is in a commit when the others come, and the first two commits end when all
    threads are in one or wait for one.
    """

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.group: GroupCommit[Commit] = GroupCommit(self._commit, threading.RLock())
        self._threads, self._meetings, self._end = 1, 0, 0
        self._begun = threading.Event()

    def write(self, threads: int, commits: int) -> None:
        """Let so many threads write until there were so many commits more."""
        self._threads, self._meetings, self._end = threads, 2, len(self.sizes) + commits
        self._begun.clear()
        race([self._write, *[self._write_later] * (threads - 1)])

    def _write_later(self) -> None:
        assert self._begun.wait(240)
        self._write()

    def _write(self) -> None:
        while len(self.sizes) < self._end:
            self.group.run(lambda commit: commit.append(None))

    def _commit(self, job: Job[Commit], _: bool) -> object:
        commit: Commit = []
        found = job(commit)
        self.sizes.append(len(commit))
        self._begun.set()
        if self._meetings:
            self._meetings -= 1
            boarding = self.group._boarding.tickets
            wait_until(lambda: len(commit) + len(boarding) >= self._threads)
        return found


def test_threads_that_come_back_share_the_next_commit_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_commit, "LINGER", 240.0)  # however late they are let run
    rush = Rush()
    rush.write(threads=8, commits=40)
    rush.group.stop()
    assert rush.sizes[0] == 1
    assert rush.sizes[2:] == [8] * 38


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
    rush, me = Rush(), threading.current_thread()
    for _ in range(10):
        begun = len(rush.sizes)
        rush.write(threads=8, commits=4)
        assert rush.sizes[begun + 1] >= 7
        writers = {rush.group.run(lambda _: threading.current_thread()) for _ in range(3)}
        assert me in writers  # it is alone again
    rush.group.stop()


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
        begun = threading.Event()

        def first(_: Transaction, begun: threading.Event = begun) -> int:
            begun.set()
            wait_until(lambda: group._boarding.tickets)
            return 0

        def second(number: int = 3 * turn + 1, begun: threading.Event = begun) -> int:
            assert begun.wait(240)
            return publish(database, number)

        jobs: list[Callable[[], int]] = [partial(database.write, first), second]
        assert race(jobs) == [0, turn + 1]
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


def test_a_lock_that_is_not_let_go_fails_all_that_wait_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, losses = tmp_path / "ledger.db", list[int]()
    refused: list[type] = []

    def lose_patience(_: int) -> bool:
        """Wait until all others wait, too, and give up."""
        if not losses:
            wait_until(lambda: len(group._boarding.tickets) == 15)
        losses.append(1)
        return False

    def append() -> None:
        try:
            say(ledger, begun, "x")
        except LedgerBusy as problem:
            refused.append(type(problem))

    def append_later() -> None:
        wait_until(lambda: group._running)
        append()

    monkeypatch.setattr(sqlite_file, "_fair_wait", lambda _: lose_patience)
    ledger = open_ledger(str(path))
    begun = born(ledger)
    assert isinstance(ledger.messages, LedgerMessages)
    database = ledger.messages._database
    assert isinstance(database, SqliteDatabase)
    group = database._group
    with locked(path):
        race([append, *[append_later] * 15])
    assert len(refused) == 16
    assert len(losses) == 2  # the first one, and all others at once
    assert say(ledger, begun, "after") == Appended(1)
    assert [each.content for each in heard(ledger, begun)] == ["after"]
    ledger.close()


def test_a_lock_that_is_let_go_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, pause, waits = tmp_path / "ledger.db", sqlite_file._pause, threading.Event()

    def note() -> None:
        waits.set()
        pause()

    monkeypatch.setattr(sqlite_file, "_pause", note)
    ledger = open_ledger(str(path), patience=240)
    begun = born(ledger)
    with locked(path) as let_go:

        def let_go_later() -> None:
            assert waits.wait(240)
            let_go()

        appended = race([*[lambda: say(ledger, begun, "x")] * 4, let_go_later])[:4]
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
import apsw, sys
connection = apsw.Connection(sys.argv[1])
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
connection.execute("ROLLBACK")
"""


@contextmanager
def locked(path: Path) -> Iterator[Callable[[], None]]:
    """Another process holds the ledger's write lock; what makes it let go."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        yield holder.stdin.close
