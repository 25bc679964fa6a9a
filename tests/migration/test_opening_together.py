"""A fresh ledger gets its schema once, however many processes open it at the same moment."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.checking import Promises, ask, check
from tests.kit.nursery import Nursery
from tests.kit.postgres_server import PostgresServer

pytestmark = pytest.mark.slow
PROCESSES = 12


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery("tests.crash.appending") as started:
        yield started


def open_together(nursery: Nursery, url: str, fifo: Path) -> None:
    """Let many processes open a ledger that does not exist yet, and check what became of it."""
    target = "tests.crash.appending:open_at_a_signal"
    os.mkfifo(fifo)
    children = [nursery.start(target, url, str(fifo)) for _ in range(PROCESSES)]
    for child in children:
        child.wait_for(lambda lines: "ready" in lines)
    with fifo.open("wb"):
        assert all(child.wait() == 0 for child in children)
    assert len({child.lines()[-1] for child in children}) == 1
    assert ask(url, "SELECT COUNT(*) FROM ledger") == [(1,)]
    assert ask(url, "SELECT name FROM homes") == [("native",)]
    check(url, Promises())
    fifo.unlink()


def test_many_processes_open_a_fresh_file_at_once(nursery: Nursery, tmp_path: Path) -> None:
    for turn in range(6):
        open_together(nursery, f"sqlite:///{tmp_path / str(turn) / 'ledger.db'}", tmp_path / "go")


def test_many_processes_open_a_fresh_database_at_once(
    nursery: Nursery, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    for _ in range(4):
        url = postgres_server.create_database()
        open_together(nursery, url, tmp_path / "go")
        postgres_server.drop_database(url)
