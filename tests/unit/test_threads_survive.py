"""Threads that must live go on after every exception, and say so in few lines."""

from __future__ import annotations

import errno
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sexton.cli import signals
from sexton.core.troubles import FIRST_PAUSE, OVER, Troubles
from sexton.errors import LedgerBusy
from sexton.finalizers.runner import Runner
from sexton.keeper.beside import Beside
from sexton.keeper.keeper import Keeper
from sexton.keeper.keeper_context import Estate
from sexton.liveness.model import Identity
from sexton.notifications.policy import Interest
from sexton.notifications.sender import Messenger
from sexton.settings.settings_values import Settings
from sexton.store.group_commit import GroupCommit
from sexton.store.opening import open_ledger
from sexton.store.postgres_connection import PooledConnection
from sexton.store.postgres_pool import Pool
from sexton.web import lookout
from sexton.web.lookout import Lookout
from sexton.wiring import Sexton

BOUND = 240.0
KINDS: tuple[Callable[[], Exception], ...] = (
    lambda: OSError(errno.EMFILE, "Too many open files"),
    MemoryError,
    lambda: RuntimeError("can't start new thread"),
)


class Flaky:
    """Fails once with each kind of exception, then works; knows how often it was called."""

    def __init__(self) -> None:
        self._kinds = list(KINDS)
        self._worked = threading.Semaphore(0)

    def __call__(self) -> None:
        if self._kinds:
            raise self._kinds.pop()()
        self._worked.release()

    def works_again(self, times: int = 2) -> bool:
        """Whether it has worked so often after its failures; waits for that."""
        return all(self._worked.acquire(timeout=BOUND) for _ in range(times))


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Sexton]:
    with closing(Sexton(open_ledger(str(tmp_path / "ledger.db")), Settings())) as house:
        yield house


@contextmanager
def keeping(keeper: Keeper, **options: Any) -> Iterator[threading.Thread]:
    thread = threading.Thread(target=lambda: keeper.run(**options), daemon=True)
    thread.start()
    try:
        yield thread
    finally:
        keeper.close()
        thread.join(BOUND)
        assert not thread.is_alive()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sexton.keeper.keeper.LOOK_EVERY", 0.01)
    monkeypatch.setattr(lookout, "LISTEN_EVERY", 0.01)
    monkeypatch.setattr(signals, "RETRY", 0.0)


@pytest.mark.usefixtures("quick")
def test_a_keeper_outlives_a_failing_sweep(house: Sexton) -> None:
    flaky = Flaky()

    def estate() -> Estate:
        flaky()
        return house.estate()

    worker = house.worker(kind="keeper")
    with keeping(Keeper(estate, lambda: worker.id, 0.01)):
        assert flaky.works_again()


@pytest.mark.usefixtures("quick")
def test_a_keeper_outlives_a_failing_step_and_finishes_its_sweeps(house: Sexton) -> None:
    """Whoever is to hear that the keeper is at work may be away for good."""
    swept = threading.Semaphore(0)

    def step() -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    with house.worker(kind="keeper") as worker:
        keeper = Keeper(house.estate, lambda: worker.id, 0.01)
        with keeping(keeper, on_sweep=lambda _: swept.release(), on_step=step):
            assert all(swept.acquire(timeout=BOUND) for _ in range(3))


class Deaths:
    """A watch on processes that fails while it waits."""

    def __init__(self, flaky: Flaky) -> None:
        self._flaky = flaky

    def watch(self, identities: Iterable[Identity]) -> None:
        list(identities)

    def wait(self, _seconds: float) -> bool:
        self._flaky()
        return False

    def wake(self) -> None: ...

    def close(self) -> None: ...


@pytest.mark.usefixtures("quick")
def test_a_keeper_outlives_a_failing_wait_between_two_sweeps(house: Sexton) -> None:
    flaky = Flaky()
    worker = house.worker(kind="keeper")
    with keeping(Keeper(house.estate, lambda: worker.id, 0.01, Deaths(flaky))):
        assert flaky.works_again()


@pytest.mark.usefixtures("quick")
def test_finalizers_and_notices_go_on_after_their_troubles(house: Sexton) -> None:
    finalizing, sending = Flaky(), Flaky()

    def asked_by(flaky: Flaky, id: str) -> Callable[[], str]:
        def ask() -> str:
            flaky()
            return id

        return ask

    with house.worker(kind="keeper") as worker:
        runner = Hurried(
            house.ledger, house.clock, {}, asked_by(finalizing, worker.id), lambda *_: iter(())
        )
        messenger = Prompt(house.ledger, house.clock, {}, asked_by(sending, worker.id), Interest())
        keeper = Keeper(house.estate, lambda: worker.id, 60.0, None, runner, messenger)
        with keeping(keeper):
            assert finalizing.works_again()
            assert sending.works_again()


class Hurried(Runner):
    """Looks for work again at once."""

    def run(self, pause: float = 0.0) -> None:
        super().run(pause)

    def begin(self) -> int:
        self._worker()
        return super().begin()


class Prompt(Messenger):
    """Asks who it works for on every round."""

    def deliver(self) -> int:
        self._worker()
        return super().deliver()


def test_a_thread_beside_the_keeper_is_started_again_when_it_died() -> None:
    started = threading.Semaphore(0)
    beside = Beside({"sexton-test": started.release})
    for _ in range(3):
        beside.attend()
        assert started.acquire(timeout=BOUND)
        beside.join("sexton-test")


class Troubled(Sexton):
    """A house that can not be looked at for a while."""

    flaky: Flaky

    def estate(self, *given: Any, **options: Any) -> Estate:
        self.flaky()
        return super().estate(*given, **options)


@pytest.mark.usefixtures("quick")
def test_the_lookout_of_the_web_goes_on_after_its_troubles(tmp_path: Path) -> None:
    with closing(Troubled(open_ledger(str(tmp_path / "ledger.db")), Settings())) as house:
        house.flaky = Flaky()
        watching = Lookout(house)
        watching.start()
        try:
            assert house.flaky.works_again()
        finally:
            watching.stop()


@pytest.mark.parametrize("kind", KINDS)
def test_a_late_call_is_cut_also_if_that_failed_at_first(
    postgres_url: str, kind: Callable[[], Exception]
) -> None:
    failures = [kind(), kind()]

    class Connection(PooledConnection):
        def fileno(self) -> int:
            if threading.current_thread().name == "sexton-deadline" and failures:
                raise failures.pop()
            return super().fileno()

    def connect(timeout: float) -> PooledConnection:
        made: PooledConnection = Connection.connect(postgres_url)
        return made

    pool = Pool(connect, deadline=BOUND)
    loan = pool.borrow()
    assert loan.connection is not None
    loan.until = 0.0  # late from now on, however long it took to connect
    with pytest.raises(psycopg.OperationalError):
        loan.connection.execute("SELECT pg_sleep(%s)", [BOUND])
    assert loan.is_cut
    assert not failures
    pool.give_back(loan)
    pool.close()


class Busy:
    """A lock that fails in the writer's thread, before a batch leaves and after it is committed."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self.failures: list[tuple[str, Exception]] = [
            (moment, kind()) for kind in KINDS for moment in ("leaving", "entering")
        ]

    def __enter__(self) -> None:
        self._fail("entering")
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
        self._fail("leaving")

    def _fail(self, moment: str) -> None:
        is_writer = threading.current_thread().name == "sexton-writer"
        if is_writer and self.failures and self.failures[-1][0] == moment:
            raise self.failures.pop()[1]

    def _is_owned(self) -> bool:
        return self._lock._is_owned()  # type: ignore[attr-defined,no-any-return]  # as conditions ask


def test_whoever_waits_for_a_shared_commit_gets_it_whatever_the_writer_meets() -> None:
    busy: Any = Busy()
    group: GroupCommit[None] = GroupCommit(lambda job, _: job(None), busy)
    group._expected = 2  # as after a commit of two: nobody commits alone
    done = threading.Semaphore(0)

    def write() -> None:
        while busy.failures:
            group._expected = 2
            assert group.run(lambda _: 7) == 7
        done.release()

    for _ in range(4):
        threading.Thread(target=write, daemon=True).start()
    assert all(done.acquire(timeout=BOUND) for _ in range(4))
    group.stop()


@pytest.mark.usefixtures("quick")
def test_a_signal_stops_the_program_also_if_that_failed_at_first() -> None:
    flaky = Flaky()
    with signals.stopped_by_signals(flaky):
        os.kill(os.getpid(), signal.SIGTERM)
        assert flaky.works_again(1)


class Seconds:
    """A clock for the log lines."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_trouble_is_logged_at_once_and_then_ever_more_seldom(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = Seconds()
    troubles = Troubles("sexton.test", clock, traced=True)
    for second in range(24 * 3600):
        try:
            raise RuntimeError(f"at {second}")
        except RuntimeError as trouble:
            troubles("look", "a look failed", trouble)
        clock.now += 1
    assert 24 <= len(caplog.records) <= 32
    traced = [__file__ in record.getMessage() for record in caplog.records]
    assert traced == [True] + [False] * (len(traced) - 1)


def test_of_what_a_database_says_only_the_first_line_is_logged(
    postgres_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The next ones quote rows and statements; what followed from such an error has them too."""
    secret = "what a user wrote"
    troubles = Troubles("sexton.test", traced=True)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE said (content TEXT PRIMARY KEY, n INT CHECK (n > 0))")
        for statement in (
            f"INSERT INTO said VALUES ('{secret}', 0)",
            f"SELECT '{secret}' FROM nowhere",
        ):
            with pytest.raises(psycopg.Error) as quoting:
                connection.execute(statement)
            assert secret in str(quoting.value)
            troubles("write", "a write failed", quoting.value)
            with pytest.raises(LookupError) as following:
                raise LookupError("nothing there") from quoting.value
            troubles(statement[:6], "a look failed", following.value)
    assert len(caplog.records) == 4
    for record in caplog.records:
        assert secret not in f"{record.getMessage()} {record.exc_info} {record.args}"
        assert __file__ in record.getMessage()


def test_another_kind_is_news_and_so_is_one_that_was_over(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = Seconds()
    troubles = Troubles("sexton.test", clock)
    for _ in range(3):
        troubles("look", "a look failed", RuntimeError())
        troubles("look", "a look failed", OSError())
        troubles("wait", "a wait failed", OSError())
    assert len(caplog.records) == 3
    clock.now += FIRST_PAUSE
    troubles("wait", "a wait failed", OSError())
    troubles("wait", "a wait failed", OSError())
    assert len(caplog.records) == 4
    clock.now += OVER
    troubles("wait", "a wait failed", OSError())
    assert len(caplog.records) == 5


def test_an_expected_error_has_no_traceback_and_a_broken_one_ends_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise MemoryError

    troubles = Troubles("sexton.test", traced=True)
    troubles("look", "a look failed", LedgerBusy("busy"))
    troubles("look", "a look failed", Mute())
    assert [__file__ in record.getMessage() for record in caplog.records] == [False]
