"""A signal handler writes in the middle of a write, at places that a timer seldom meets."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sexton.store import whereabouts
from sexton.store.sqlite import SqliteDatabase
from tests.interrupting import interrupted_at_every_step

FULL = 2


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    with closing(SqliteDatabase(tmp_path / "ledger.db", patience=240.0)) as opened:
        opened.write(lambda tx: tx.cursor.execute("CREATE TABLE said (word)").fetchall())
        yield opened


@pytest.fixture
def heard(database: SqliteDatabase) -> Iterator[list[int]]:
    """What a handler of SIGUSR1 met, which writes: how its write was made durable."""
    found: list[int] = []

    def job(tx: Any) -> None:
        say(tx, "handler")
        found.append(tx.cursor.execute("PRAGMA synchronous").fetchall()[0][0])

    before = signal.signal(signal.SIGUSR1, lambda *_: database.write(job))
    yield found
    signal.signal(signal.SIGUSR1, before)


def say(tx: Any, word: str) -> None:
    tx.cursor.execute("INSERT INTO said VALUES (?)", (word,)).fetchall()


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGUSR1)


def said(database: SqliteDatabase) -> list[Any]:
    found = database.read(lambda tx: tx.cursor.execute("SELECT word FROM said").fetchall())
    return [word for (word,) in found]


class TwiceInterrupted:
    """A job that is interrupted before its transaction begins, and once more within it."""

    def __init__(self) -> None:
        self.runs = 0

    def at_once(self, _: Any) -> None:
        if not self.runs:
            interrupt()

    def __call__(self, tx: Any) -> None:
        self.runs += 1
        say(tx, "job")
        if self.runs == 1:
            interrupt()


def test_a_write_may_be_interrupted_twice(database: SqliteDatabase, heard: list[int]) -> None:
    job = TwiceInterrupted()
    database.write(job)
    assert (said(database), heard, job.runs) == (["handler", "handler", "job"], [FULL, FULL], 2)


def test_what_a_handler_writes_lasts_also_where_the_write_it_interrupts_need_not(
    database: SqliteDatabase, heard: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    looks, identity = [0], whereabouts.identity

    def look(path: str) -> Any:  # as is done when the commit has just been made
        looks[0] += 1
        if looks[0] == 1:
            interrupt()
        return identity(path)

    monkeypatch.setattr(whereabouts, "identity", look)
    database.write(lambda tx: say(tx, "job"), lasting=False)
    assert (said(database), heard) == (["job", "handler"], [FULL])


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
