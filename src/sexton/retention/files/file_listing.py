"""What files are below a directory, and what is in them?"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from typing import NamedTuple

from sexton.errors import VaultError
from sexton.retention.files.descriptors import (
    DEEPEST,
    Unfit,
    open_plain,
    opened,
    reached,
    status_of,
    unfit_kind,
)
from sexton.retention.model import FileChanged, FileContent, FilesOfSession, Refused

CHUNK = 1 << 18

Reach = Callable[[], AbstractContextManager[int]]


class Entry(NamedTuple):
    """Something below a directory; `why` says why it is left alone, if it is."""

    directory: int
    path: tuple[str, ...]
    status: os.stat_result
    why: str | None


def walk(directory: int, path: tuple[str, ...] = ()) -> Iterator[Entry]:
    """All there is below a directory but directories, in order; their descriptors open meanwhile.

    A directory that is not entered is told of.
    """
    device = os.fstat(directory).st_dev
    for name in sorted(os.listdir(directory)):
        status = status_of(name, directory)
        if status is None:
            continue
        here = (*path, name)
        if not stat.S_ISDIR(status.st_mode):
            yield Entry(directory, here, status, unfit_kind(status))
        elif status.st_dev != device:
            yield Entry(directory, here, status, "lies on another file system")
        elif len(here) >= DEEPEST:
            yield Entry(directory, here, status, "lies too deep")
        else:
            try:
                with opened(name, directory) as inner:
                    yield from walk(inner, here)
            except OSError as problem:
                yield Entry(directory, here, status, f"can not be entered: {problem.strerror}")


def hollow(directory: int, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The directories with nothing in them, of one and those below it."""
    names = sorted(os.listdir(directory))
    if not names:
        yield path
    for name in names:
        status = status_of(name, directory)
        if status and stat.S_ISDIR(status.st_mode) and len(path) + 1 < DEEPEST:
            with suppress(OSError), opened(name, directory) as inner:  # `walk` tells of it
                yield from hollow(inner, (*path, name))


def files_of(owner: str, entries: Iterator[Entry], reach: Reach) -> FilesOfSession:
    """What a session has among some entries; `reach` opens the directory they are below."""
    contents, refused = [], []
    for entry in entries:
        try:
            contents.append(_content(owner, entry, reach))
        except Unfit as problem:
            refused.append(Refused(entry.path, str(problem)))
    size = sum(each.size for each in contents)
    return FilesOfSession(contents=tuple(contents), refused=tuple(refused), bytes=size)


def _content(owner: str, entry: Entry, reach: Reach) -> FileContent:
    if entry.why:
        raise Unfit(entry.why)
    descriptor, status = open_plain(entry.path[-1], entry.directory)
    os.close(descriptor)
    return FileContent(
        path=entry.path,
        mode=stat.S_IMODE(status.st_mode),
        mtime_ns=status.st_mtime_ns,
        size=status.st_size,
        inode=status.st_ino,
        chunks=lambda: _read(owner, entry.path, _facts(status), reach),
    )


def _read(owner: str, path: Sequence[str], facts: object, reach: Reach) -> Iterator[bytes]:
    """The bytes of a file that is the same from the first to the last."""
    changed = FileChanged(owner, tuple(path))
    try:
        with reach() as top, reached(top, path[:-1]) as directory:
            descriptor, status = open_plain(path[-1], directory)
    except (OSError, VaultError, Unfit):
        raise changed from None
    try:
        at = 0
        while at <= status.st_size and (chunk := os.pread(descriptor, CHUNK, at)):
            at += len(chunk)
            yield chunk
        if not _facts(status) == _facts(os.fstat(descriptor)) == facts or at != status.st_size:
            raise changed
    except OSError as problem:
        raise VaultError(f"{'/'.join(path)!r} can not be read: {problem.strerror}") from None
    finally:
        os.close(descriptor)


def _facts(status: os.stat_result) -> object:
    return (
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )
