"""The files of a home that keeps those of all its sessions in one directory."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from sexton.retention.files.descriptors import (
    explained,
    make_directory,
    opened,
    status_of,
    unfit_kind,
)
from sexton.retention.files.file_listing import Entry, files_of
from sexton.retention.files.file_removal import remove_all
from sexton.retention.files.file_restore import put_all
from sexton.retention.home_storage import FileNames
from sexton.retention.model import FileContent, FilesOfSession, FoundFile, PutBack


class FlatFiles:
    """Implements `home_storage.SessionFiles`; whose a file is, is told by its name alone.

    A directory that is a link has no files here: nobody can say where it leads next time.
    """

    def __init__(self, place: Path, names: FileNames) -> None:
        self._place = place
        self._names = names

    def owner(self, id: str) -> str:
        return self._names.owner(id)

    def of(self, owners: Collection[str]) -> dict[str, FilesOfSession]:
        if not owners or not self._is_there():
            return {}
        wanted = frozenset(owners)
        found: dict[str, list[Entry]] = defaultdict(list)
        with self._top() as top:
            for name in sorted(os.listdir(top)):
                owner = self._names.owner_of(name).owner
                status = status_of(name, top) if owner in wanted else None
                if owner is not None and status is not None:
                    found[owner].append(Entry(top, (name,), status, unfit_kind(status)))
            return {owner: files_of(owner, iter(all), self._top) for owner, all in found.items()}

    def remove(self, seen: Mapping[str, Sequence[FileContent]]) -> int:
        if not self._is_there():
            return 0
        with self._top() as top:
            removed = sum(remove_all(top, files) for files in seen.values())
            os.fsync(top)
        return removed

    def put_back(
        self,
        owner: str,
        files: Iterable[FileContent],
        directories: Iterable[tuple[str, ...]] = (),
    ) -> PutBack:
        del directories  # all files are in one

        def fits(path: Sequence[str]) -> str | None:
            if len(path) == 1 and self._names.owner_of(path[0]).owner == owner:
                return None
            return f"is not one of the session {owner!r}"

        with explained(self._place):
            make_directory(self._place)
        with self._top() as top:
            return put_all(top, files, fits)

    def scan(self) -> Iterator[FoundFile]:
        if not self._is_there():
            return
        with self._top() as top:
            for name in sorted(os.listdir(top)):
                status = status_of(name, top)
                if status is not None and unfit_kind(status) is None:
                    owner, sure = self._names.owner_of(name)
                    yield FoundFile(owner, (name,), status.st_size, status.st_mtime_ns, sure)

    def _is_there(self) -> bool:
        return self._place.is_dir() and not self._place.is_symlink()

    @contextmanager
    def _top(self) -> Iterator[int]:
        with explained(self._place), opened(self._place) as top:
            yield top
