"""The files of our own sessions: a directory for each, named by a digest."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from sexton.core.record import replace
from sexton.errors import VaultDamaged
from sexton.retention.files.descriptors import (
    explained,
    make_directory,
    make_place,
    opened,
    opened_private,
)
from sexton.retention.files.file_listing import files_of, hollow, walk
from sexton.retention.files.file_removal import remove_all, remove_empty
from sexton.retention.files.file_restore import make_all, put_all
from sexton.retention.model import (
    FileContent,
    FilesOfSession,
    FoundFile,
    PutBack,
    Refused,
)

_OWNER = re.compile(r"[0-9a-f]{40}")


class OwnFiles:
    """Session files where each session has a directory of its own, made when it is needed."""

    def __init__(self, place: Path, home: str) -> None:
        self.place = place
        self._home = home

    def owner(self, id: str) -> str:
        return sha256(f"{self._home}\0{id}".encode()).hexdigest()[:40]

    def directory(self, id: str) -> Path:
        """The session's directory, made for its user alone on first use."""
        owner = self.owner(id)
        with self._made(owner):
            return self.place / owner

    def of(self, owners: Collection[str]) -> dict[str, FilesOfSession]:
        if not self._is_there():
            return {}
        with opened_private(self.place) as top:
            found = {owner: self._look(owner, top) for owner in owners}
        return {owner: files for owner, files in found.items() if files != FilesOfSession()}

    def remove(self, seen: Mapping[str, Sequence[FileContent]]) -> int:
        if not self._is_there():
            return 0
        with opened_private(self.place) as top:
            removed = sum(_remove(owner, files, top) for owner, files in seen.items())
            os.fsync(top)
        return removed

    def put_back(
        self,
        owner: str,
        files: Iterable[FileContent],
        directories: Iterable[tuple[str, ...]] = (),
    ) -> PutBack:
        with self._made(owner) as directory:
            make_all(directory, directories)
            done = put_all(directory, files, lambda _: None)
        with opened_private(self.place) as top:
            os.fsync(top)
        return done

    def scan(self) -> Iterator[FoundFile]:
        if not self._is_there():
            return
        with opened_private(self.place) as top:
            for entry in walk(top):
                if entry.why is None:
                    owner, *rest = entry.path
                    owned = bool(rest) and _OWNER.fullmatch(owner) is not None
                    yield FoundFile(
                        owner if owned else None,
                        tuple(rest) if owned else entry.path,
                        entry.status.st_size,
                        entry.status.st_mtime_ns,
                    )

    def _is_there(self) -> bool:
        return os.path.lexists(self.place)

    def _look(self, owner: str, top: int) -> FilesOfSession:
        try:
            with opened(_checked(owner), top) as directory:
                found = files_of(owner, walk(directory), lambda: self._below(owner))
                return replace(found, directories=tuple(hollow(directory)))
        except FileNotFoundError:
            return FilesOfSession()
        except OSError as problem:
            why = f"can not be entered: {problem.strerror}"
            return FilesOfSession(refused=(Refused((owner,), why),))

    @contextmanager
    def _below(self, owner: str) -> Iterator[int]:
        with opened_private(self.place) as top, opened(owner, top) as directory:
            yield directory

    @contextmanager
    def _made(self, owner: str) -> Iterator[int]:
        with explained(self.place):
            make_place(self.place, with_parents=True)
        with opened_private(self.place) as top:
            make_directory(_checked(owner), top)
            with opened(owner, top) as directory:
                yield directory


def _checked(owner: str) -> str:
    if not _OWNER.fullmatch(owner):
        raise VaultDamaged(f"{owner!r} is not the name of a session's directory")
    return owner


def _remove(owner: str, files: Sequence[FileContent], top: int) -> int:
    try:
        with opened(_checked(owner), top) as directory:
            removed = remove_all(directory, files)
            empty = remove_empty(directory)
    except FileNotFoundError:
        return 0
    if empty:
        with suppress(OSError):
            os.rmdir(owner, dir_fd=top)
    return removed
