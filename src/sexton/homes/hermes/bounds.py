"""Keeps work on a foreign database within what its size explains, whatever its schema says.

Sexton counts steps of SQLite's virtual machine and not seconds: the same home costs the same number
on a slow machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import apsw

STEPS_AT_LEAST = 50_000_000
STEPS_PER_BYTE = 50
"""Far more than any question of ours needs: reading a row costs about one step for two bytes."""
STEPS_BETWEEN_CHECKS = 200_000
LONGEST_VALUE = 64 * 1024 * 1024
"""Bytes that a value may always have; a longer one must at least fit into the file."""
SQLITE_MOST = 1_000_000_000

LIMITS = {
    apsw.SQLITE_LIMIT_SQL_LENGTH: 1_000_000,
    apsw.SQLITE_LIMIT_EXPR_DEPTH: 100,
    apsw.SQLITE_LIMIT_COMPOUND_SELECT: 10,
    apsw.SQLITE_LIMIT_FUNCTION_ARG: 100,
    apsw.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1_000,
    apsw.SQLITE_LIMIT_TRIGGER_DEPTH: 8,
    apsw.SQLITE_LIMIT_ATTACHED: 0,
    apsw.SQLITE_LIMIT_WORKER_THREADS: 0,
}


def confine(db: apsw.Connection, database: Path) -> None:
    """Distrust the schema of a foreign database, and limit lengths and depths."""
    db.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    db.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    for limit, most in LIMITS.items():
        db.limit(limit, most)
    db.limit(apsw.SQLITE_LIMIT_LENGTH, min(max(LONGEST_VALUE, _size(database)), SQLITE_MOST))


def bound(db: apsw.Connection, database: Path) -> None:
    """End any work of this connection with InterruptError once it exceeds the database's size."""
    db.set_progress_handler(_budget(_size(database)), STEPS_BETWEEN_CHECKS)


def _budget(size: int) -> Callable[[], bool]:
    left = STEPS_AT_LEAST + STEPS_PER_BYTE * size

    def spent() -> bool:
        nonlocal left
        left -= STEPS_BETWEEN_CHECKS
        return left < 0

    return spent


def _size(database: Path) -> int:
    total = 0
    for path in (str(database), f"{database}-wal"):
        try:
            total += os.stat(path).st_size
        except OSError:
            continue
    return total
