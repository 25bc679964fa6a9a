"""How is a file removed only if it is the one that was seen?

Between a look at a name and its removal somebody may put another file there. So the name is
taken away first, which nobody can undo unseen, and what was taken is looked at then.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress

from sexton.retention.files.descriptors import is_elsewhere, opened, reached, status_of
from sexton.retention.model import FileContent


def remove_all(directory: int, files: Iterable[FileContent]) -> int:
    """Remove those of the files below a directory that are as they were seen; how many were."""
    removed = 0
    for file in files:
        try:
            with reached(directory, file.path[:-1]) as parent:
                removed += remove_seen(file.path[-1], parent, file)
        except OSError as problem:
            if not is_elsewhere(problem):
                raise
    return removed


def remove_seen(name: str, directory: int, seen: FileContent) -> bool:
    """Remove a file that is as it was seen, also where an earlier attempt was interrupted."""
    taken = f".sexton-{seen.inode}.removing"
    left_over = status_of(taken, directory)
    if left_over is None:
        if not _is_seen(status_of(name, directory), seen):
            return False
        os.rename(name, taken, src_dir_fd=directory, dst_dir_fd=directory)
    if not _is_seen(status_of(taken, directory), seen):
        if left_over is None:
            _give_back(taken, name, directory)
        return False
    os.unlink(taken, dir_fd=directory)
    return True


def remove_empty(directory: int) -> bool:
    """Remove the empty directories below one; whether it is empty itself now."""
    for name in os.listdir(directory):
        status = status_of(name, directory)
        if status and stat.S_ISDIR(status.st_mode):
            with suppress(OSError):
                with opened(name, directory) as inner:
                    empty = remove_empty(inner)
                if empty:
                    os.rmdir(name, dir_fd=directory)
    if os.listdir(directory):
        os.fsync(directory)
        return False
    return True


def _is_seen(status: os.stat_result | None, seen: FileContent) -> bool:
    if status is None or not stat.S_ISREG(status.st_mode):
        return False
    facts = (status.st_ino, status.st_size, status.st_mtime_ns)
    return facts == (seen.inode, seen.size, seen.mtime_ns)


def _give_back(taken: str, name: str, directory: int) -> None:
    """Give something its name again; if another has it by now, it is not lost either."""
    with suppress(FileExistsError):
        try:
            os.link(taken, name, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
            os.unlink(taken, dir_fd=directory)
        except PermissionError:  # a directory, or a file system that has no second names
            if status_of(name, directory) is None:
                os.rename(taken, name, src_dir_fd=directory, dst_dir_fd=directory)
