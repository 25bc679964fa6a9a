"""A released migration never changes: older ledgers would differ from fresh ones."""

from __future__ import annotations

import hashlib
from pathlib import Path

from sexton.store import migrations

RELEASED = {
    "sqlite/0001_schema.sql": "007bb9ef99302af3b83697ce151af9d318426c03e449dd5d33ebdd0a81ac80e1",
    "postgres/0001_schema.sql": "4aaa2cc4ebfe9b43507e6f5f666c1b889af5cb9a1e011263b48b02de34049534",
}
"""The SHA-256 of each migration. A line that was released stays; a change is a new file."""


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_every_migration_is_as_it_was_released() -> None:
    folder = Path(migrations.FOLDER)
    files = {str(file.relative_to(folder)): digest(file) for file in folder.rglob("*.sql")}
    assert files == RELEASED
