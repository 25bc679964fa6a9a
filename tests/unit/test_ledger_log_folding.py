"""When is the log of a ledger's file folded in, and by whom?"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import apsw
import pytest

from sexton.errors import LedgerFull
from sexton.sessions.message_store import LedgerMessages
from sexton.store import log_folding, sqlite
from sexton.store.ledger_ports import Ledger
from sexton.store.log_folding import LONG, PAGES, LogFolding
from sexton.store.opening import open_ledger
from sexton.store.sqlite import FOLDED, SqliteDatabase
from sexton.store.sqlite_file import WAL_PAGES
from tests.contract.ledger_contract_samples import born, heard, race, reread, say

PAGE = "x" * 4000
PATIENCE = 240.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    with closing(open_ledger(str(path))) as opened:
        yield opened


def database_of(ledger: Ledger) -> SqliteDatabase:
    assert isinstance(ledger.messages, LedgerMessages)
    database = ledger.messages._database
    assert isinstance(database, SqliteDatabase)
    return database


def thread_of(ledger: Ledger) -> threading.Thread | None:
    return database_of(ledger)._folding._thread


def log_of(path: Path) -> tuple[int, int]:
    """Pages that are in the log, and how many of them are in the file, too."""
    with closing(apsw.Connection(str(path))) as looking:
        looking.execute("SELECT 1 FROM sessions").fetchall()
        return looking.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)


def write_until_folded(ledger: Ledger) -> list[threading.Thread]:
    """Write as much as makes the log long; the threads that folded it, which have ended."""
    begun, found = born(ledger, None), list[threading.Thread]()
    for _ in range(PAGES):
        say(ledger, begun, PAGE, PAGE, PAGE, PAGE)
        if (thread := thread_of(ledger)) is not None:
            thread.join(PATIENCE)
            found += [] if thread in found else [thread]
        elif found:
            break
    return found


def test_a_long_log_is_folded_by_a_thread_and_begins_anew(path: Path, ledger: Ledger) -> None:
    before = path.stat().st_size
    threads = write_until_folded(ledger)
    assert [thread.name for thread in threads] == ["sexton-fold"]
    assert path.stat().st_size > before + PAGES * 4096 // 3
    say(ledger, born(ledger, "more"), PAGE)
    assert sum(log_of(path)) < PAGES


def test_what_came_while_the_log_was_folded_is_finished_by_a_writer_once_the_log_is_long(
    path: Path, ledger: Ledger
) -> None:
    begun, lengths = born(ledger, None), [0]
    for _ in range(LONG // FOLDED * 2):
        thread = thread_of(ledger)
        if thread is not None:
            thread.join(PATIENCE)  # it has folded; what is said from now on comes after it
        for _ in range(FOLDED // 2):
            say(ledger, begun, PAGE, PAGE)
        lengths.append(log_of(path)[0])
        if lengths[-1] < lengths[-2]:
            break
    assert LONG <= max(lengths) < LONG + PAGES
    assert log_of(path)[0] < PAGES


def test_a_short_log_is_left_as_it_is(path: Path, ledger: Ledger) -> None:
    begun = born(ledger)
    for _ in range(2 * FOLDED):
        say(ledger, begun, PAGE)
    assert thread_of(ledger) is None
    pages, folded = log_of(path)
    assert (pages > 2 * FOLDED, folded) == (True, 0)


def test_what_somebody_reads_is_not_folded_again_and_again_but_afterwards(
    path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_folding, "PAGES", 600)
    say(ledger, born(ledger, "first"), PAGE)
    with closing(apsw.Connection(str(path))) as reader:
        reader.execute("BEGIN; SELECT COUNT(*) FROM messages").fetchall()
        assert len(write_until_folded(ledger)) == 1
        pages, folded = log_of(path)
        assert pages - folded > 300
        begun = born(ledger, "more")
        for _ in range(2 * FOLDED):
            say(ledger, begun, PAGE)
            assert thread_of(ledger) is None
        assert len(write_until_folded(ledger)) == 1  # as much as that once more
        reader.execute("COMMIT")
    write_until_folded(ledger)
    say(ledger, begun, PAGE)
    assert log_of(path)[0] < pages


@pytest.mark.slow
def test_without_a_thread_writers_fold_a_very_long_log_themselves(
    path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        before, begun = path.stat().st_size, born(ledger)
        for _ in range(WAL_PAGES // 4):
            say(ledger, begun, PAGE, PAGE, PAGE, PAGE)
    assert thread_of(ledger) is None
    assert path.stat().st_size > before + WAL_PAGES * 4096 // 2
    assert len(heard(ledger, begun)) == WAL_PAGES


class Slow:
    """A fold that lasts until it is let go, of a log that is long."""

    def __init__(self, ledger: Ledger) -> None:
        database_of(ledger)._folding.stop()  # only this one
        say(ledger, born(ledger), *[PAGE] * 2 * PAGES)
        writer = database_of(ledger)._writer
        assert writer is not None
        self.connection = writer.connection
        self.folding = LogFolding(self._fold)
        self.folds = 0
        self.let_go = threading.Event()

    def tend(self) -> threading.Thread | None:
        self.folding.tend(self.connection)
        return self.folding._thread

    def _fold(self) -> None:
        self.folds += 1
        assert self.let_go.wait(240)
        raise LedgerFull("no room left")


def test_a_log_is_folded_by_one_thread_at_a_time_and_a_failure_is_nobodys(ledger: Ledger) -> None:
    slow = Slow(ledger)
    first = slow.tend()
    assert first is not None
    assert slow.tend() is first
    slow.let_go.set()
    first.join(240)
    assert (slow.folds, slow.tend()) == (1, None)


def test_whoever_stops_waits_for_the_thread_and_there_is_no_other(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_folding, "PATIENCE", PATIENCE)
    slow = Slow(ledger)
    thread = slow.tend()
    assert thread is not None
    stopping = threading.Thread(target=slow.folding.stop)
    stopping.start()
    stopping.join(0.05)
    assert stopping.is_alive()
    slow.let_go.set()
    stopping.join(240)
    assert not thread.is_alive()
    say(ledger, born(ledger, "more"), *[PAGE] * 2 * PAGES)
    assert [slow.tend() for _ in range(3)] == [None] * 3
    assert slow.folds == 1


@pytest.mark.parametrize("trouble", [MemoryError, RecursionError, apsw.IOError, apsw.BusyError])
def test_what_becomes_of_the_log_is_nothing_to_the_commits_before(
    trouble: type[Exception], ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise trouble

    monkeypatch.setattr(sqlite, "TENDED", 1)
    monkeypatch.setattr(sqlite, "FOLDED", 1)
    monkeypatch.setattr(database_of(ledger)._folding, "tend", fail)
    begun = [born(ledger, f"{number}") for number in range(4)]
    race([partial(say, ledger, each, f"{n}") for each in begun for n in range(20)])
    for each in begun:
        assert len({message.content for message in heard(ledger, each)}) == 20
        assert reread(ledger, each).message_count == 20


def test_a_fold_that_ends_after_the_ledger_was_closed_leaves_nothing_open(path: Path) -> None:
    ledger = open_ledger(str(path))
    database = database_of(ledger)
    loan = database._readers.borrow()
    ledger.close()
    database._readers.give_back(loan)
    with pytest.raises(apsw.ConnectionClosedError):
        loan.connection.pragma("user_version")
