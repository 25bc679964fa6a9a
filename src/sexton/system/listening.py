"""On which ports do processes wait for others to connect?"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_LISTENS = b"0A"

Known = tuple[int, int]
"""A process: its pid and its start tick."""


class Ports:
    """Finds the ports of processes; whoever was looked at is not again until a socket is new."""

    def __init__(self) -> None:
        self._sockets: dict[int, int] = {}
        self._owned: dict[Known, frozenset[int]] = {}

    def of(self, processes: set[Known]) -> dict[int, tuple[int, ...]]:
        """The ports of those processes that listen, by pid."""
        if sys.platform != "linux":
            return _by_psutil(processes)
        sockets = dict(_listening())
        if sockets.keys() - self._sockets.keys():
            self._owned = {}
        self._sockets = sockets
        self._owned = {
            each: owned
            if (owned := self._owned.get(each)) is not None
            else _sockets_of(each[0], sockets)
            for each in processes
        }
        return {
            pid: tuple(sorted({sockets[inode] for inode in owned & sockets.keys()}))
            for (pid, _), owned in self._owned.items()
            if owned & sockets.keys()
        }


def _listening() -> Iterator[tuple[int, int]]:
    """The inode and the port of every listening socket of this user."""
    mine = str(os.geteuid()).encode()
    for table in _TABLES:
        for line in _lines(table):
            fields = line.split(None, 10)
            if len(fields) > 9 and fields[3] == _LISTENS and fields[7] == mine:
                yield int(fields[9]), int(fields[1].rpartition(b":")[2], 16)


def _lines(table: str) -> list[bytes]:
    try:
        with open(table, "rb") as file:
            return file.readlines()[1:]
    except OSError:  # no such protocol here, or /proc is not to be read
        return []


def _sockets_of(pid: int, wanted: Mapping[int, int]) -> frozenset[int]:
    """Which of the sockets a process has open."""
    if not wanted:
        return frozenset()
    try:
        folder = os.open(f"/proc/{pid}/fd", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return frozenset()
    found = set()
    try:
        for name in os.listdir(folder):
            try:
                target = os.readlink(name, dir_fd=folder)
            except OSError:
                continue  # closed meanwhile
            if target.startswith("socket:["):
                found.add(int(target[8:-1]))
    except OSError:
        pass
    finally:
        os.close(folder)
    return frozenset(found & wanted.keys())


def _by_psutil(processes: set[Known]) -> dict[int, tuple[int, ...]]:
    import psutil  # noqa: PLC0415  # only where there is no /proc

    found = {}
    for pid, _ in processes:
        try:
            lines = psutil.Process(pid).net_connections(kind="tcp")
        except psutil.Error:
            continue
        ports = {line.laddr.port for line in lines if line.status == psutil.CONN_LISTEN}
        if ports:
            found[pid] = tuple(sorted(ports))
    return found
