"""What a signal handler does in the middle of a write: an exception, a write, a fork."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

from sexton.errors import LedgerBusy, LedgerError
from sexton.store.sqlite import SqliteDatabase
from tests.interrupting import at_every_step, interrupted_at_every_step

FULL = 2


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    with closing(SqliteDatabase(tmp_path / "ledger.db", patience=240.0)) as opened:
        opened.write(lambda tx: tx.cursor.execute("CREATE TABLE said (word)").fetchall())
        yield opened


@contextmanager
def handler(act: Callable[[], object]) -> Iterator[None]:
    """What SIGUSR1 does."""
    before = signal.signal(signal.SIGUSR1, lambda *_: act())
    yield
    signal.signal(signal.SIGUSR1, before)


def say(tx: Any, word: str) -> None:
    tx.cursor.execute("INSERT INTO said VALUES (?)", (word,)).fetchall()


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGUSR1)


def said(database: SqliteDatabase) -> list[Any]:
    found = database.read(lambda tx: tx.cursor.execute("SELECT word FROM said").fetchall())
    return [word for (word,) in found]


def interrupted_job(tx: Any) -> None:
    say(tx, "job")
    interrupt()


def test_a_handler_that_writes_in_a_write_of_its_thread_is_refused_and_the_write_goes_on(
    database: SqliteDatabase,
) -> None:
    def write() -> None:
        with pytest.raises(LedgerBusy, match="signal handler"):
            database.write(lambda tx: say(tx, "handler"))

    with handler(write):
        database.write(interrupted_job)
    assert said(database) == ["job"]


def test_a_handler_that_lets_the_refusal_out_stops_the_write_and_nothing_of_it_is_stored(
    database: SqliteDatabase,
) -> None:
    with (
        handler(lambda: database.write(lambda tx: say(tx, "handler"))),
        pytest.raises(LedgerBusy, match="signal handler"),
    ):
        database.write(interrupted_job)
    assert said(database) == []


def test_a_handler_may_write_at_any_other_moment(database: SqliteDatabase) -> None:
    outcomes: list[str] = []

    def write() -> None:
        try:
            database.write(lambda tx: say(tx, "handler"))
        except LedgerBusy:
            outcomes.append("refused")
        else:
            outcomes.append("stored")

    runs = 0
    for _ in at_every_step(lambda: database.write(lambda tx: say(tx, "job")), meanwhile=write):
        runs += 1
        assert len(outcomes) == runs
    words = said(database)
    assert words.count("job") == runs + 1  # the last run was not interrupted any more
    assert words.count("handler") == outcomes.count("stored") > 0
    assert "refused" in outcomes


def test_an_exception_at_any_step_leaves_the_file_free_and_half_a_write_nowhere(
    database: SqliteDatabase,
) -> None:
    def twice(tx: Any) -> None:
        say(tx, "a")
        say(tx, "b")

    interrupts = 0
    with closing(apsw.Connection(database.path)) as other:
        for problem in interrupted_at_every_step(lambda: database.write(twice)):
            interrupts += problem is not None
            database.write(lambda tx: say(tx, "after"))
            other.execute("BEGIN IMMEDIATE; ROLLBACK")  # waits for nobody
    words = said(database)
    assert interrupts > FULL
    assert words.count("a") == words.count("b")
    assert words.count("after") >= interrupts


def test_the_write_that_a_handler_forks_in_fails_on_both_sides_and_both_write_on(
    database: SqliteDatabase,
) -> None:
    children: list[int] = []

    with handler(lambda: children.append(os.fork())):
        try:
            database.write(interrupted_job)
            failed = False
        except LedgerError:
            failed = True
        if children == [0]:
            database.write(lambda tx: say(tx, "child"))
            os._exit(0 if failed else 1)
    assert os.waitpid(children[0], 0)[1] == 0
    assert failed
    database.write(lambda tx: say(tx, "parent"))
    assert said(database) == ["child", "parent"]


def test_a_durable_write_is_synced_wherever_an_exception_left_a_relaxed_one(
    database: SqliteDatabase,
) -> None:
    levels = set()
    interrupts = 0

    def relaxed() -> None:
        database.write(lambda tx: say(tx, "relaxed"), lasting=False)

    def level(tx: Any) -> int:
        say(tx, "durable")
        found: int = tx.cursor.execute("PRAGMA synchronous").fetchall()[0][0]
        return found

    for problem in interrupted_at_every_step(relaxed):
        levels.add(database.write(level))
        interrupts += problem is not None
    assert levels == {FULL}
    assert interrupts
    assert said(database).count("durable") >= interrupts
