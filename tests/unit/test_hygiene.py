"""How big a ledger is, and how it gives back what it no longer uses."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from subprocess import PIPE

import apsw
import pytest

from sexton.retention.disk_space import space_at
from sexton.store.opening import open_ledger
from tests.contract.ledger_contract_samples import born, say

MB = 1_000_000
COPYING = """
import fcntl, sys
file = open(sys.argv[1], "r+b")
fcntl.lockf(file, fcntl.LOCK_EX, 1, 121)
print(flush=True)
sys.stdin.read()
"""
"""Holds the lock of whoever copies the log of a SQLite file into it."""


def swollen(url: str) -> None:
    """A ledger in which a lot was said and is not there any more."""
    with closing(open_ledger(url)) as ledger:
        begun = born(ledger)
        for _ in range(40):
            assert say(ledger, begun, "x" * 100_000)
    with closing(apsw.Connection(url)) as connection:
        connection.execute("DELETE FROM messages")


def test_the_size_of_a_ledger_is_told_on_each_engine(engine_url: str) -> None:
    with closing(open_ledger(engine_url)) as ledger:
        before = ledger.hygiene.size()
        assert before.bytes > 10_000
        begun = born(ledger)
        for _ in range(10):
            assert say(ledger, begun, os.urandom(50_000).hex())
        assert ledger.hygiene.size().bytes > before.bytes + 500_000


def test_a_log_that_somebody_else_is_folding_is_left_to_them(new_file: Path) -> None:
    with closing(open_ledger(str(new_file))) as ledger:
        assert say(ledger, born(ledger), "x" * MB)
        command = [sys.executable, "-c", COPYING, f"{new_file}-shm"]
        with subprocess.Popen(command, stdin=-1, stdout=-1) as somebody:
            assert somebody.stdout
            assert somebody.stdout.readline()
            ledger.hygiene.checkpoint()
            assert new_file.stat().st_size < MB
            somebody.communicate()
        ledger.hygiene.checkpoint()
        assert new_file.stat().st_size > MB


def test_what_is_free_is_given_back_in_small_steps_until_nothing_is_left(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    swollen(str(path))
    with closing(open_ledger(str(path))) as ledger:
        before = ledger.hygiene.size()
        assert before.free_bytes > 3 * MB
        steps = []
        while step := ledger.hygiene.trim():
            steps.append(step)
            assert len(steps) < 100
        after = ledger.hygiene.size()
    assert max(steps) <= 260 * 4096
    assert len(steps) >= 3
    assert (after.free_bytes, before.bytes - sum(steps)) == (0, after.bytes)
    assert path.stat().st_size < MB


def test_giving_back_with_nothing_to_give_writes_nothing(engine_url: str, tmp_path: Path) -> None:
    with closing(open_ledger(engine_url)) as ledger:
        files = {each: each.stat().st_mtime_ns for each in tmp_path.glob("ledger.db*")}
        assert ledger.hygiene.trim() == 0
        assert {each: each.stat().st_mtime_ns for each in tmp_path.glob("ledger.db*")} == files


def test_the_log_of_a_ledger_that_grows_is_seen(tmp_path: Path) -> None:
    with closing(open_ledger(str(tmp_path / "ledger.db"))) as ledger:
        small = ledger.hygiene.size().wal_bytes
        assert say(ledger, born(ledger), "x" * MB)
        assert ledger.hygiene.size().wal_bytes > small + MB


FOLDING = """
import fcntl, sys
file = open(sys.argv[1], "r+b")
fcntl.lockf(file, fcntl.LOCK_EX, 1, 121)  # the lock of whoever folds a log in
print("folding", flush=True)
sys.stdin.read()
"""


def test_while_somebody_else_folds_the_log_in_that_is_as_good(tmp_path: Path) -> None:
    with closing(open_ledger(str(tmp_path / "ledger.db"))) as ledger:
        assert say(ledger, born(ledger), "x")
        arguments = [sys.executable, "-c", FOLDING, str(tmp_path / "ledger.db-shm")]
        with subprocess.Popen(arguments, stdin=PIPE, stdout=PIPE) as other:
            assert other.stdout is not None
            assert other.stdout.readline() == b"folding\n"
            ledger.hygiene.checkpoint()
            other.communicate(timeout=240)


@pytest.mark.parametrize("below", [(), ("not", "there", "yet")])
def test_the_room_on_a_disk_is_told_also_for_what_is_not_there_yet(
    below: tuple[str, ...], tmp_path: Path
) -> None:
    space = space_at(tmp_path.joinpath(*below))
    assert 0 < space.free < space.total
    facts = os.statvfs(tmp_path)
    assert space.total == facts.f_blocks * facts.f_frsize
