"""Which files lie in a home's `sessions` folder, and whose are they?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

from sexton.errors import HomeUnreadable
from sexton.retention.home_storage import FileNames


class FileSeen(NamedTuple):
    """A file: its name, its size, when it was written, and the name of its session in it."""

    name: str
    bytes: int
    written_at: float
    owner: str | None
    kind: str


def files_in(folder: Path, names: FileNames) -> Iterator[FileSeen]:
    """The plain files in the folder; links are not followed, and a folder that is a link is not."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as problem:
        raise HomeUnreadable(f"{folder} can not be read: {problem.strerror}") from None
    try:
        with os.scandir(descriptor) as entries:
            for entry in entries:
                found = _seen(entry, names)
                if found is not None:
                    yield found
    finally:
        os.close(descriptor)


def kind_of(name: str) -> str:
    """What kind of file Hermes writes under such a name."""
    if name.startswith("request_dump_"):
        return "dump"
    if name.startswith("session_") and name.endswith(".json"):
        return "snapshot"
    return "transcript" if name.endswith(".jsonl") else "other"


def _seen(entry: os.DirEntry[str], names: FileNames) -> FileSeen | None:
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not S_ISREG(status.st_mode):
        return None
    owner = names.owner_of(entry.name).owner
    return FileSeen(entry.name, status.st_size, status.st_mtime, owner, kind_of(entry.name))
