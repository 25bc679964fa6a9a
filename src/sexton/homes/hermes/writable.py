"""Can a home's database be written at all? Asked before anything of the home is changed.

A change that fails half way would leave a home whose files are gone and whose rows are not.
"""

from __future__ import annotations

import os
from pathlib import Path

import apsw

from sexton.errors import HomeBusy, HomeRefused, HomeUnwritable

LEAST_ROOM = 262_144
"""Bytes that a change of a few rows takes in the log and beside it."""
_FREE = "Free some space on the disk of the home; nothing in the home was changed."
_MOUNT = "Mount its disk writable, or act where it is; nothing in the home was changed."
_PERMIT = (
    "Make the file and its directory writable for this user, or act as the user who runs Hermes."
)
_WAIT = (
    "Some process keeps it locked, perhaps a backup or a repair: try again when it has ended; "
    "nothing was changed."
)


def refuse_unwritable(database: Path) -> None:
    """HomeUnwritable, with what would help, where a change could not be stored."""
    try:
        space = os.statvfs(database.parent)
    except OSError as problem:
        raise HomeUnwritable(f"{database} can not be written: {problem.strerror}") from None
    if space.f_flag & os.ST_RDONLY:
        raise HomeUnwritable(f"{database} is on a disk that can only be read", hint=_MOUNT)
    log = database.with_name(f"{database.name}-wal")
    for path in (database.parent, database, log):
        if (path is not log or log.exists()) and not _may_write(path):
            raise HomeUnwritable(f"{path} may not be written by this user", hint=_PERMIT)
    free = space.f_bfree if os.geteuid() == 0 else space.f_bavail
    if space.f_blocks and free * space.f_frsize < LEAST_ROOM:
        raise HomeUnwritable(f"there is no room left on the disk of {database}", hint=_FREE)


def refusal(database: Path, problem: apsw.Error, patience: float) -> HomeRefused:
    """What it means that the database could not be changed."""
    match problem:
        case apsw.BusyError() | apsw.LockedError():
            return HomeBusy(f"{database} was busy for more than {patience:.0f} s", hint=_WAIT)
        case apsw.FullError():
            return HomeUnwritable(f"there is no room left on the disk of {database}", hint=_FREE)
        case apsw.ReadOnlyError() | apsw.CantOpenError() | apsw.PermissionsError():
            return HomeUnwritable(f"{database} can not be written: {problem}", hint=_PERMIT)
        case _:
            return HomeRefused(f"{database} can not be changed: {problem}")


def _may_write(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)
