"""Who holds a lock on a database? Run as a program of its own, never imported.

Whoever opens and closes a database in a process that has a connection to it loses that
connection's locks, so the question is asked by a process that has none.
"""

from __future__ import annotations

import fcntl
import json
import os
import struct
import sys

SHARED = (0x40000000, 512)
"""Where a connection locks the database itself, for as long as it is open in WAL mode."""
INDEX = (120, 9)
"""Where it locks the index of the log; the last byte for as long as it is connected."""
_FLOCK = "hhqqi4x"


def holder(path: str, place: tuple[int, int]) -> int | None:
    """The process whose lock is in the way there: 0 if it is in another namespace, None if none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        wanted = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, *place, 0)
        kind, _, _, _, pid = struct.unpack(_FLOCK, fcntl.fcntl(descriptor, fcntl.F_GETLK, wanted))
    finally:
        os.close(descriptor)
    return None if kind == fcntl.F_UNLCK else max(pid, 0)


if __name__ == "__main__":
    database = sys.argv[1]
    found = [holder(database, SHARED), holder(f"{database}-shm", INDEX)]
    sys.stdout.write(json.dumps([pid for pid in found if pid is not None]))
