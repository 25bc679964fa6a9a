"""How are files below a directory reached so that nobody can lead us elsewhere?

Every step is taken from a descriptor of the directory before it, and none follows a link.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sexton.errors import PlaceUnsafe, VaultError, VaultFull, VaultMissing

PRIVATE_DIRECTORY = 0o700
PRIVATE_FILE = 0o600
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_MAKING = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

DEEPEST = 32
LONGEST = 255
"""How deep a file of a session may lie, and how many bytes its name may have."""
_KINDS = {
    stat.S_IFDIR: "is a directory",
    stat.S_IFLNK: "is a symbolic link",
    stat.S_IFIFO: "is a pipe",
    stat.S_IFSOCK: "is a socket",
    stat.S_IFCHR: "is a device",
    stat.S_IFBLK: "is a device",
}


@contextmanager
def opened(place: Path | str, below: int | None = None) -> Iterator[int]:
    """A descriptor of a directory; OSError if it is none, or only a link to one."""
    directory = os.open(place, _DIRECTORY, dir_fd=below)
    try:
        yield directory
    finally:
        os.close(directory)


@contextmanager
def reached(directory: int, names: Sequence[str], *, make: bool = False) -> Iterator[int]:
    """A descriptor of a directory below; on the way, missing ones are made if wanted."""
    if not names:
        yield directory
        return
    if make and make_directory(names[0], directory):
        os.fsync(directory)
    with (
        opened(names[0], directory) as inner,
        reached(inner, names[1:], make=make) as last,
    ):
        yield last


@contextmanager
def opened_private(place: Path) -> Iterator[int]:
    """A descriptor of a directory of ours; PlaceUnsafe if others could change what is in it."""
    with explained(place), opened(place) as directory:
        status = os.fstat(directory)
        if status.st_uid not in {os.geteuid(), 0}:
            raise PlaceUnsafe(f"{place} belongs to user {status.st_uid}")
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise PlaceUnsafe(f"{place} can be changed by others")
        yield directory


def make_directory(name: Path | str, below: int | None = None) -> bool:
    """Make a directory for this user alone; False if something of that name is there."""
    try:
        os.mkdir(name, PRIVATE_DIRECTORY, dir_fd=below)
    except FileExistsError:
        return False
    return True


def make_place(place: Path, *, with_parents: bool = False) -> None:
    """Make a directory of ours that is still there after a power failure."""
    if with_parents and not place.parent.exists():
        make_place(place.parent, with_parents=True)
    if make_directory(place):
        above = os.open(place.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(above)
        finally:
            os.close(above)


def make_file(name: str, directory: int) -> int:
    """A new file for this user alone."""
    return os.open(name, _MAKING, PRIVATE_FILE, dir_fd=directory)


def open_plain(name: str, directory: int) -> tuple[int, os.stat_result]:
    """Open a plain file for reading; Unfit with the reason if it is none or can not be read."""
    try:
        descriptor = os.open(name, _READING, dir_fd=directory)
    except OSError as problem:
        raise Unfit(_why_closed(name, directory, problem)) from None
    status = os.fstat(descriptor)
    why = unfit_kind(status)
    if why:
        os.close(descriptor)
        raise Unfit(why)
    return descriptor, status


class Unfit(Exception):
    """Something that is left alone; the message says why."""


def unfit_kind(status: os.stat_result) -> str | None:
    """What a thing is if it is not a plain file."""
    kind = stat.S_IFMT(status.st_mode)
    return None if kind == stat.S_IFREG else _KINDS.get(kind, "is no plain file")


def status_of(name: str, directory: int) -> os.stat_result | None:
    """What a name stands for now, itself and not what it points to; None if there is nothing."""
    try:
        return os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None


def is_elsewhere(problem: OSError) -> bool:
    """Whether a step failed because the way is not, or not any more, one of plain directories."""
    return problem.errno in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}


@contextmanager
def explained(place: Path) -> Iterator[None]:
    """Turn the system's errors into ours."""
    try:
        yield
    except OSError as problem:
        if problem.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            raise VaultFull(f"there is no room in {place}: {problem.strerror}") from None
        if problem.errno in {errno.ELOOP, errno.ENOTDIR}:
            raise PlaceUnsafe(f"{place} is not a directory, or leads through a link") from None
        if problem.errno == errno.ENOENT:
            raise VaultMissing(f"{place} is not there") from None
        raise VaultError(f"{place} can not be used: {problem.strerror}") from None


def _why_closed(name: str, directory: int, problem: OSError) -> str:
    status = status_of(name, directory)
    if status is None:
        return "is gone"
    return unfit_kind(status) or f"can not be read: {problem.strerror}"


def unfit(path: Sequence[object]) -> str | None:
    """What is wrong with a path that was read from a file, or None if nothing is."""
    if not 0 < len(path) <= DEEPEST:
        return f"lies {len(path)} directories deep"
    for name in path:
        if not isinstance(name, str) or name in {"", ".", ".."} or "/" in name or "\0" in name:
            return "lies outside of its directory"
        if len(name.encode("utf-8", "surrogateescape")) > LONGEST:
            return "has too long a name"
    return None
