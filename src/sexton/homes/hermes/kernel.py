"""What does the kernel say about a process that a Hermes home names?"""

from __future__ import annotations

import os
from collections.abc import Iterator

import psutil

FIRST_PID_NAMESPACE = 0xEFFFFFFC
"""The number of the namespace that all others are inside of."""


def start_ticks(pid: int) -> int | None:
    """When a living process started, in the kernel's own unit; None if there is none."""
    text = _text(f"/proc/{pid}/stat") if pid > 0 else None
    if text is None:
        return None
    # The name in front may hold anything.
    fields = text.rpartition(b")")[2].split()
    return None if fields[0] in (b"Z", b"X", b"x") else int(fields[19])


def lives(pid: object, ticks: object) -> bool:
    """Whether the process with that pid is the one that started then."""
    if type(pid) is not int or type(ticks) is not int:
        return False
    return start_ticks(pid) == ticks


def began(pid: int) -> float:
    """When a process started, in seconds since 1970; 0 if it is gone."""
    try:
        return psutil.Process(pid).create_time()
    except (psutil.Error, ValueError):
        return 0.0


def owner(place: str | os.PathLike[str]) -> int | None:
    """Whose a file is, or the process behind a directory of /proc; None if that is not told."""
    try:
        return os.stat(place).st_uid
    except OSError:
        return None


def command(pid: int) -> tuple[str, ...]:
    """The command line of a process; nothing if it is gone or has none."""
    text = _text(f"/proc/{pid}/cmdline") or b""
    return tuple(word.decode("utf-8", "replace") for word in text.rstrip(b"\0").split(b"\0"))


def pids() -> list[int]:
    """The processes there are; none where the kernel shows none."""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def sees_all() -> bool:
    """Whether processes of every pid namespace of this machine can be seen from here."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino == FIRST_PID_NAMESPACE
    except OSError:
        return False


def has_open(pid: int, files: frozenset[tuple[int, int]]) -> bool | None:
    """Whether a process has one of the files open, by device and inode; None if it may not be seen.

    Only asks for what descriptors lead to: to open one of them would drop locks.
    """
    place = f"/proc/{pid}/fd"
    try:
        names = os.listdir(place)
    except FileNotFoundError:
        return False
    except OSError:
        return None
    for name in names:
        try:
            found = os.stat(f"{place}/{name}")
        except OSError:
            continue
        if (found.st_dev, found.st_ino) in files:
            return True
    return False


def locking(inodes: frozenset[int]) -> Iterator[int]:
    """The processes that hold a lock on one of the inodes, of whichever user."""
    for line in (_text("/proc/locks") or b"").splitlines():
        words = line.replace(b"->", b"").split()
        if len(words) < 6 or words[1] != b"POSIX":
            continue
        inode = words[5].rpartition(b":")[2]
        if inode.isdigit() and int(inode) in inodes and words[4].isdigit():
            yield int(words[4])


def _text(path: str) -> bytes | None:
    try:
        with open(path, "rb") as opened:
            return opened.read()
    except OSError:
        return None
