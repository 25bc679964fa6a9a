"""How is a file put back without overwriting anything, even if we are interrupted?

It is written under a name of our own and then given its own, which fails if that is taken. What
is there already with the same contents is as good; anything else stays, and ours goes beside it.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import count

from sexton.errors import VaultDamaged
from sexton.retention.files.descriptors import (
    LONGEST,
    Unfit,
    make_file,
    open_plain,
    reached,
    status_of,
    unfit,
)
from sexton.retention.files.file_listing import CHUNK
from sexton.retention.model import FileContent, PutBack

Fits = Callable[[Sequence[str]], str | None]

PERMISSIONS = 0o777
_WITHOUT_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EMLINK}


def put_all(directory: int, files: Iterable[FileContent], fits: Fits) -> PutBack:
    """Put files back below a directory; VaultDamaged at the first that does not belong there."""
    done, aside = 0, {}
    for file in files:
        why = unfit(file.path) or fits(file.path)
        if why:
            raise VaultDamaged(f"a file to be put back {why}")
        *above, name = file.path
        with reached(directory, above, make=True) as parent:
            given = put_file(name, parent, file)
        done += given == name
        if given != name:
            aside[file.path] = (*above, given)
    return PutBack(files=done, aside=aside)


def make_all(directory: int, paths: Iterable[Sequence[str]]) -> None:
    """Make directories below one, durably."""
    for path in paths:
        why = unfit(path) if path else None
        if why:
            raise VaultDamaged(f"a directory to be made {why}")
        with reached(directory, path, make=True):
            pass


def put_file(name: str, directory: int, file: FileContent) -> str:
    """Put a file into a directory, durably; the name it has there."""
    own = f".sexton-{sha256(os.fsencode(name)).hexdigest()[:16]}.restoring"
    if status_of(own, directory):  # an earlier attempt was interrupted
        os.unlink(own, dir_fd=directory)
    descriptor = make_file(own, directory)
    try:
        _fill(descriptor, file)
        for candidate in _candidates(name):
            if _named(own, candidate, directory) or _is_same(descriptor, candidate, directory):
                os.fsync(directory)
                return candidate
        raise AssertionError("names do not run out")
    finally:
        os.close(descriptor)
        if status_of(own, directory):
            os.unlink(own, dir_fd=directory)


def _fill(descriptor: int, file: FileContent) -> None:
    size = 0
    for chunk in file.chunks():
        rest = memoryview(chunk)
        size += len(chunk)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    if size != file.size:
        raise VaultDamaged(f"{'/'.join(file.path)!r} has {size} bytes instead of {file.size}")
    os.fchmod(descriptor, file.mode & PERMISSIONS)
    os.utime(descriptor, ns=(file.mtime_ns, file.mtime_ns))
    os.fsync(descriptor)


def _candidates(name: str) -> Iterator[str]:
    yield name
    for number in count(1):
        ending = ".restored" if number == 1 else f".restored-{number}"
        yield os.fsdecode(os.fsencode(name)[: LONGEST - len(ending)]) + ending


def _named(own: str, name: str, directory: int) -> bool:
    """Give the file its name; False if something has it."""
    try:
        os.link(own, name, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
    except FileExistsError:
        return False
    except OSError as problem:
        if problem.errno not in _WITHOUT_LINKS:
            raise
        if status_of(name, directory):
            return False
        os.rename(own, name, src_dir_fd=directory, dst_dir_fd=directory)
    return True


def _is_same(ours: int, name: str, directory: int) -> bool:
    try:
        theirs, status = open_plain(name, directory)
    except Unfit:
        return False
    try:
        return status.st_size == os.fstat(ours).st_size and all(
            os.pread(ours, CHUNK, at) == os.pread(theirs, CHUNK, at)
            for at in range(0, status.st_size, CHUNK)
        )
    finally:
        os.close(theirs)
