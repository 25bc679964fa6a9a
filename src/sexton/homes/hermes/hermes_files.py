"""How big is a Hermes home, and which files are in it?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import apsw

from sexton.homes.hermes.fingerprint import recognise
from sexton.homes.hermes.folder import FileSeen, files_in
from sexton.homes.hermes.hermes_database import read, signature
from sexton.homes.hermes.session_files import HermesFileNames


@dataclass(frozen=True, slots=True, kw_only=True)
class FileGroup:
    """Files of one kind: how many, and how big together."""

    files: int = 0
    bytes: int = 0

    def plus(self, size: int) -> FileGroup:
        return FileGroup(files=self.files + 1, bytes=self.bytes + size)


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeFigures:
    """Sizes and counts of a home; never anything that was said in it."""

    schema_version: int
    database_bytes: int
    wal_bytes: int
    free_bytes: int
    snapshots: FileGroup
    request_dumps: FileGroup
    transcripts: FileGroup
    other_files: FileGroup
    files: tuple[FileSeen, ...] = ()
    """All of them, so that a diagnosis need not list the folder again."""


def figures_of(home: Path, database: Path) -> HomeFigures:
    """The figures of the home, read without changing anything."""
    version, free_bytes = read(database, lambda db: _figures(db, database))
    stamps = signature(database)
    groups = dict.fromkeys(("snapshot", "dump", "transcript", "other"), FileGroup())
    files = tuple(files_in(home / "sessions", HermesFileNames()))
    for file in files:
        groups[file.kind] = groups[file.kind].plus(file.bytes)
    return HomeFigures(
        schema_version=version,
        database_bytes=stamps.database[1],
        wal_bytes=stamps.wal[1] if stamps.wal else 0,
        free_bytes=free_bytes,
        snapshots=groups["snapshot"],
        request_dumps=groups["dump"],
        transcripts=groups["transcript"],
        other_files=groups["other"],
        files=files,
    )


def _figures(db: apsw.Connection, database: Path) -> tuple[int, int]:
    shape = recognise(db, database)
    return shape.version, int(db.pragma("freelist_count")) * int(db.pragma("page_size"))
