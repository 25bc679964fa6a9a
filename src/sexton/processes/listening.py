"""On which ports do processes wait for others to connect?"""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain, islice
from typing import NamedTuple

from sexton.processes.process_table import other_threads

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_LISTENS = b"0A"
_SOCK_DIAG, _BY_FAMILY, _DUMP, _DONE = 4, 20, 0x301, 3
_REQUEST = struct.Struct("=IHHIIBBBBI48s")
_HEAD = struct.Struct("=IH")
_PORT = struct.Struct("!H")
_OWNER = struct.Struct("=II")
FEW = 8
"""So many descriptors are tried by number before they are listed."""
PATIENCE = 1.0
"""Seconds for the kernel to answer, which it does at once."""

Known = tuple[int, int]
"""A process: its pid and its start tick."""


class Ports:
    """Finds the ports of processes; whoever was looked at is not again until a socket is new.

    Until it is looked at again, a process has the ports that it had and that are still open.
    """

    def __init__(self) -> None:
        self._seen = _Seen({}, {}, frozenset())

    def of(self, processes: set[Known], most: int | None = None) -> dict[int, tuple[int, ...]]:
        """The ports of those processes that listen, by pid; at most so many are newly looked at."""
        if most == 0:
            return {}
        if sys.platform != "linux":
            return _by_psutil(processes)
        sockets, before = _listening(), self._seen
        is_fresh = not sockets.keys() - before.sockets.keys()
        owned = {each: had for each, had in before.owned.items() if each in processes}
        fresh = before.fresh & owned.keys() if is_fresh else frozenset()
        stale = [each for each in owned if each not in fresh]  # those first that wait for longest
        for each in islice(chain(processes - owned.keys(), stale), most):
            had, found = owned.pop(each, None), _sockets_of(each[0], sockets)
            if found is not None:
                fresh |= {each}
            if (now := had if found is None else found) is not None:
                owned[each] = now
        self._seen = _Seen(sockets, owned, fresh)  # in one step: any thread may look
        return {
            pid: tuple(sorted({sockets[inode] for inode in inodes & sockets.keys()}))
            for (pid, _), inodes in owned.items()
            if inodes & sockets.keys()
        }


class _Seen(NamedTuple):
    """The last look: all sockets, those of each process, and who was looked at since the newest."""

    sockets: dict[int, int]
    owned: dict[Known, frozenset[int]]
    fresh: frozenset[Known]


def _listening() -> dict[int, int]:
    """The port of every listening socket of this user, by its inode."""
    try:
        found = list(_by_netlink())
    except OSError:  # not allowed here; reading the tables takes a hundred times as long
        found = [each for table in _TABLES for each in _from_table(table)]
    mine = os.geteuid()
    return {inode: port for user, inode, port in found if user == mine}


def _by_netlink() -> Iterator[tuple[int, int, int]]:
    """The user, inode and port of every listening socket, asked of the kernel."""
    kind = socket.SOCK_RAW | socket.SOCK_CLOEXEC
    with socket.socket(socket.AF_NETLINK, kind, _SOCK_DIAG) as line:
        line.settimeout(PATIENCE)
        for family in (socket.AF_INET, socket.AF_INET6):
            states = 1 << 10  # those that listen
            wanted = (family, socket.IPPROTO_TCP, 0, 0, states, b"")
            line.send(_REQUEST.pack(_REQUEST.size, _BY_FAMILY, _DUMP, 0, 0, *wanted))
            yield from _answers(line)


def _answers(line: socket.socket) -> Iterator[tuple[int, int, int]]:
    while True:
        answer = line.recv(65_536)
        place = 0
        while place < len(answer):
            size, kind = _HEAD.unpack_from(answer, place)
            if kind == _DONE:
                return
            if kind != _BY_FAMILY:
                raise OSError("the kernel does not tell which sockets listen")
            (port,) = _PORT.unpack_from(answer, place + 20)
            user, inode = _OWNER.unpack_from(answer, place + 80)
            yield user, inode, port
            place += (size + 3) & ~3


def _from_table(table: str) -> Iterator[tuple[int, int, int]]:
    """The same from one of the kernel's tables."""
    try:
        with open(table, "rb") as file:
            lines = file.readlines()[1:]
    except OSError:  # no such protocol here, or /proc is not to be read
        return
    for line in lines:
        fields = line.split(None, 10)
        if len(fields) > 9 and fields[3] == _LISTENS:
            yield int(fields[7]), int(fields[9]), int(fields[1].rpartition(b":")[2], 16)


def _sockets_of(pid: int, wanted: Mapping[int, int]) -> frozenset[int] | None:
    """Which of the sockets a process has open; None if that is not to be known now."""
    if not wanted:
        return frozenset()
    try:
        targets = _targets(f"/proc/{pid}")
        if not targets:  # of one whose first thread has ended, another one has them
            targets = [each for place in other_threads(pid)[:1] for each in _targets(place)]
    except OSError:
        return None
    found = {int(each[8:-1]) for each in targets if each.startswith("socket:[")}
    return frozenset(found & wanted.keys())


def _targets(place: str) -> list[str]:
    """What the descriptors of a thread stand for, but for those that are closed meanwhile.

    Where the kernel says how few there are, they are mostly the first ones and need no listing.
    """
    folder = os.open(f"{place}/fd", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if 0 < (count := os.fstat(folder).st_size) <= FEW:
            with suppress(OSError):  # there are gaps
                return [os.readlink(str(each), dir_fd=folder) for each in range(count)]
        targets = []
        for name in os.listdir(folder):
            with suppress(OSError):
                targets.append(os.readlink(name, dir_fd=folder))
        return targets
    finally:
        os.close(folder)


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
