"""Databases like those of Hermes, and processes that have them open."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw

HOLD = """
import sqlite3, sys
held = sqlite3.connect(sys.argv[1])
held.execute("SELECT COUNT(*) FROM sqlite_master").fetchall()
print("held", flush=True)
sys.stdin.read()
"""


def make_database(place: Path, *, log: bool = True) -> Path:
    """A database with one table, closed."""
    place.mkdir(exist_ok=True)
    database = place / "state.db"
    made = apsw.Connection(str(database))
    made.pragma("journal_mode", "wal" if log else "delete")
    made.execute("CREATE TABLE notes (words TEXT)")
    made.close()
    return database


@contextmanager
def holding(
    database: Path, called: str = "program", words: Sequence[str] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has the database open, started as a program of that name."""
    program = database.parent / called
    program.write_text(HOLD.replace("sys.argv[1]", repr(str(database))))
    process = subprocess.Popen(
        [sys.executable, str(program), *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin
    assert process.stdout
    try:
        assert process.stdout.readline() == b"held\n"
        yield process
    finally:
        process.stdin.close()
        process.wait(240)
        process.stdout.close()


def ticks(pid: int) -> int:
    """When a process started, as Hermes writes it down."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


def is_locked(database: Path) -> bool:
    """Whether another process is kept from writing."""
    code = (
        "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], timeout=0); "
        "db.execute('BEGIN IMMEDIATE')"
    )
    tried = subprocess.run(
        [sys.executable, "-c", code, str(database)], capture_output=True, check=False, timeout=240
    )
    return b"locked" in tried.stderr
