"""How big a ledger is, and what of it is given back to the disk."""

from __future__ import annotations

import os

from sexton.core.record import record
from sexton.store.database import Database, Transaction
from sexton.store.sqlite import SqliteDatabase


@record
class LedgerSize:
    """How big a ledger is, in bytes; what is free in it is reused, and given back by trimming."""

    bytes: int
    free_bytes: int = 0
    wal_bytes: int = 0


class Hygiene:
    """The size of one's own ledger; never asked of a home's database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def size(self) -> LedgerSize:
        """How big it is now."""
        total, free = self._database.read(_size)
        file = self._database.path if isinstance(self._database, SqliteDatabase) else None
        return LedgerSize(bytes=total, free_bytes=free, wal_bytes=_wal_bytes(file) if file else 0)

    def trim(self) -> int:
        """Give a few free pages back to the disk in one short transaction; how many bytes.

        0 once there is nothing to give back, or where the server sees to it.
        """
        if not isinstance(self._database, SqliteDatabase):
            return 0
        _, free = self._database.read(_size)
        return self._database.write(_trim) if free else 0

    def checkpoint(self) -> None:
        """Copy the log into the file, so that nobody who commits has to; locks nobody.

        For whoever changes much in one go.
        """
        if isinstance(self._database, SqliteDatabase):
            self._database.checkpoint()


def _size(tx: Transaction) -> tuple[int, int]:
    row = tx.one("ledger_size")
    assert row is not None
    return row[0], row[1]


def _trim(tx: Transaction) -> int:
    before, _ = _size(tx)
    tx.all("trim_ledger")
    return before - _size(tx)[0]


def _wal_bytes(file: str) -> int:
    try:
        return os.stat(f"{file}-wal").st_size
    except FileNotFoundError:
        return 0
