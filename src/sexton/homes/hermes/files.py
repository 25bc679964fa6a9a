"""How big is a Hermes home, and which files are in it?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG

import apsw

from sexton.errors import HomeUnreadable
from sexton.homes.hermes.database import read, signature
from sexton.homes.hermes.fingerprint import recognise
from sexton.ports import Clock


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


def figures_of(home: Path, database: Path, clock: Clock) -> HomeFigures:
    """The figures of the home, read without changing anything."""
    version, free_bytes = read(database, clock, lambda db: _figures(db, database))
    stamps = signature(database)
    groups = dict.fromkeys(("snapshot", "dump", "transcript", "other"), FileGroup())
    for name, size in _regular_files(home / "sessions"):
        kind = _kind(name)
        groups[kind] = groups[kind].plus(size)
    return HomeFigures(
        schema_version=version,
        database_bytes=stamps.database[1],
        wal_bytes=stamps.wal[1] if stamps.wal else 0,
        free_bytes=free_bytes,
        snapshots=groups["snapshot"],
        request_dumps=groups["dump"],
        transcripts=groups["transcript"],
        other_files=groups["other"],
    )


def _figures(db: apsw.Connection, database: Path) -> tuple[int, int]:
    shape = recognise(db, database)
    return shape.version, int(db.pragma("freelist_count")) * int(db.pragma("page_size"))


def _kind(name: str) -> str:
    if name.startswith("request_dump_"):
        return "dump"
    if name.startswith("session_") and name.endswith(".json"):
        return "snapshot"
    return "transcript" if name.endswith(".jsonl") else "other"


def _regular_files(folder: Path) -> Iterator[tuple[str, int]]:
    """Names and sizes of the plain files in a folder; links are not followed."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as problem:
        raise HomeUnreadable(f"{folder} can not be read: {problem.strerror}") from None
    try:
        with os.scandir(descriptor) as entries:
            for entry in entries:
                size = _size(entry)
                if size is not None:
                    yield entry.name, size
    finally:
        os.close(descriptor)


def _size(entry: os.DirEntry[str]) -> int | None:
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    return status.st_size if S_ISREG(status.st_mode) else None
