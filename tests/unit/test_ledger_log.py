"""The write-ahead log of a ledger's file: who copies it into the file, and what is left of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from sexton.sessions.message_store import LedgerMessages
from sexton.store import sqlite_file
from sexton.store.ledger import Ledger
from sexton.store.opening import open_ledger
from sexton.store.sqlite import SqliteDatabase
from tests.contract.ledger_contract_samples import born, heard, say

PAGE = "x" * 4000
LOG_PAGES = 500


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a ledger will be whose log is copied sooner than it usually is."""
    monkeypatch.setattr(sqlite_file, "LOG_PAGES", LOG_PAGES)
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


def log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def pages_of(path: Path) -> tuple[int, int]:
    """Pages that are in the log, and how many of them are in the file, too."""
    with closing(apsw.Connection(str(path))) as looking:
        looking.execute("SELECT 1 FROM sessions").fetchall()
        return looking.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)


def test_however_much_is_written_the_log_begins_anew(path: Path, ledger: Ledger) -> None:
    begun, before = born(ledger), path.stat().st_size
    for _ in range(LOG_PAGES):
        say(ledger, begun, PAGE, PAGE, PAGE, PAGE)
    assert log_of(path).stat().st_size < 2 * LOG_PAGES * 4096
    assert path.stat().st_size > before + 3 * LOG_PAGES * 4096


def test_what_somebody_reads_stays_in_the_log_until_he_has_finished(
    path: Path, ledger: Ledger
) -> None:
    begun = born(ledger)
    with closing(apsw.Connection(str(path))) as reader:
        reader.execute("BEGIN; SELECT COUNT(*) FROM messages").fetchall()
        for _ in range(LOG_PAGES // 2):
            say(ledger, begun, PAGE, PAGE, PAGE, PAGE)
        pages, copied = pages_of(path)
        assert (pages > 2 * LOG_PAGES, copied < LOG_PAGES) == (True, True)
        reader.execute("COMMIT")
    for _ in range(LOG_PAGES // 2):
        say(ledger, begun, PAGE, PAGE, PAGE, PAGE)
    assert pages_of(path)[0] < 2 * LOG_PAGES
    assert len(heard(ledger, begun)) == 4 * LOG_PAGES


@pytest.mark.parametrize("trouble", [apsw.IOError, apsw.BusyError, apsw.FullError])
def test_what_becomes_of_the_log_is_nothing_to_the_commit_before(
    trouble: type[apsw.Error], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "LOG_PAGES", LOG_PAGES)

    class Log:
        """A connection whose log is long and cannot be copied."""

        tries = 0

        def set_busy_handler(self, _: object) -> None:
            pass

        def wal_checkpoint(self, *, mode: int) -> None:
            assert mode == apsw.SQLITE_CHECKPOINT_RESTART
            self.tries += 1
            raise trouble

    log, hook = Log(), sqlite_file._log_hook(patience=1.0)
    pages = range(LOG_PAGES, 3 * LOG_PAGES, LOG_PAGES // 10)
    assert {hook(log, "main", each) for each in pages} == {apsw.SQLITE_OK}  # type: ignore[arg-type]
    assert log.tries == 2  # not with every commit


def test_a_ledger_at_rest_is_one_file(path: Path) -> None:
    """Else a backup that is put back would be read together with the log of a later time."""
    with closing(open_ledger(str(path))) as ledger:
        say(ledger, born(ledger), "before")
    backup = path.read_bytes()
    with closing(open_ledger(str(path))) as ledger:
        begun = born(ledger, "later")
        for number in range(50):
            say(ledger, begun, f"{number}", PAGE)
    assert not log_of(path).exists()
    path.write_bytes(backup)
    with closing(apsw.Connection(str(path))) as restored:
        assert restored.pragma("integrity_check") == "ok"
        assert restored.execute("SELECT COUNT(*) FROM messages").fetchall() == [(1,)]


def test_a_checkpoint_that_ends_after_the_ledger_was_closed_leaves_nothing_open(path: Path) -> None:
    ledger = open_ledger(str(path))
    database = database_of(ledger)
    loan = database._readers.borrow()
    ledger.close()
    database._readers.give_back(loan)
    with pytest.raises(apsw.ConnectionClosedError):
        loan.connection.pragma("user_version")
