"""How big is the ledger, and what of it can be given back to the disk?"""

from __future__ import annotations

import os

from sexton.store.database import Database, Transaction
from sexton.store.hygiene_ports import LedgerSize
from sexton.store.sqlite import SqliteDatabase


class LedgerHygiene:
    """Implements `ports.hygiene.Hygiene`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def size(self) -> LedgerSize:
        total, free = self._database.read(_size)
        file = self._database.path if isinstance(self._database, SqliteDatabase) else None
        return LedgerSize(bytes=total, free_bytes=free, wal_bytes=_wal_bytes(file) if file else 0)

    def trim(self) -> int:
        if not isinstance(self._database, SqliteDatabase):
            return 0
        _, free = self._database.read(_size)
        return self._database.write(_trim) if free else 0

    def fold(self) -> None:
        if isinstance(self._database, SqliteDatabase):
            self._database.fold()


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
