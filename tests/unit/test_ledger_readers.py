"""Connections that read, and what an interrupt in the middle of a read leaves of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from sexton.store.sqlite import SqliteDatabase
from sexton.store.sqlite_readers import Readers


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = str(tmp_path / "ledger.db")
    SqliteDatabase(path).close()
    return path


@pytest.fixture
def readers(file: str) -> Iterator[Readers]:
    made = Readers(lambda: apsw.Connection(file))
    yield made
    made.close()


def is_open(connection: apsw.Connection) -> bool:
    try:
        connection.pragma("user_version")
    except apsw.ConnectionClosedError:
        return False
    return True


def test_a_connection_is_lent_to_one_after_the_other(readers: Readers) -> None:
    first, second = readers.borrow(), readers.borrow()
    assert first.connection is not second.connection
    readers.give_back(first)
    assert readers.borrow().connection is first.connection


def test_what_was_left_in_the_middle_of_a_read_is_not_lent_again(readers: Readers) -> None:
    loan = readers.borrow()
    loan.connection.execute("BEGIN")
    readers.give_back(loan)
    assert not is_open(loan.connection)
    readers.borrow().connection.execute("BEGIN")


def test_what_is_outdated_is_closed_when_it_is_given_back(readers: Readers) -> None:
    idle, lent = readers.borrow(), readers.borrow()
    readers.give_back(idle)
    readers.renew()
    assert (is_open(idle.connection), is_open(lent.connection)) == (False, True)
    readers.give_back(lent)
    assert not is_open(lent.connection)
    fresh = readers.borrow()
    readers.give_back(fresh)
    assert is_open(fresh.connection)


def test_a_fork_waits_for_whoever_reads_but_not_for_who_has_forgotten_it(readers: Readers) -> None:
    mine, forgotten = readers.borrow(), readers.borrow()
    begun, forked = threading.Event(), threading.Event()

    def fork() -> None:
        begun.set()
        readers.before_fork()
        readers.after_fork_in_parent()
        forked.set()

    thread = threading.Thread(target=fork)
    thread.start()
    assert begun.wait(240)
    readers.give_back(mine)
    assert not forked.wait(0.1)
    del forgotten
    assert forked.wait(240)
    thread.join(240)
    assert is_open(readers.borrow().connection)


def test_no_fork_waits_for_what_could_not_be_opened(file: str) -> None:
    kept = []

    def fail() -> apsw.Connection:
        raise apsw.CantOpenError("not now")

    readers = Readers(fail)

    def read() -> None:
        try:
            readers.borrow()
        except apsw.CantOpenError as problem:
            kept.append(problem)

    thread = threading.Thread(target=read)
    thread.start()
    thread.join(240)
    assert kept
    assert not list(readers._lent)


def test_no_fork_waits_for_its_own_thread(readers: Readers) -> None:
    loan = readers.borrow()
    readers.before_fork()
    readers.after_fork_in_parent()
    readers.give_back(loan)
    assert is_open(loan.connection)


def test_after_a_fork_nothing_of_the_parents_is_lent(readers: Readers) -> None:
    idle, lent = readers.borrow(), readers.borrow()
    readers.give_back(idle)
    readers.after_fork_in_child()
    readers.give_back(lent)
    assert not is_open(idle.connection)
    assert not is_open(lent.connection)
    assert readers.borrow().connection not in (idle.connection, lent.connection)
