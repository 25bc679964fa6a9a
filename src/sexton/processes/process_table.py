"""Which processes are there, whose child is each, and what has it used?

One pass over the kernel's own table; what vanishes meanwhile is left out. Where there is no
/proc, psutil is asked.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import NamedTuple

from sexton.core.clock import SystemClock
from sexton.liveness.process_identity import DEAD_STATES, state_of
from sexton.processes.model import TAG_VARIABLE, tags_in

MOST_BYTES = 1_048_576
"""So much of an environment is read; a tag beyond it is not found."""
ZOMBIES = DEAD_STATES
SLEEPS_DEEPLY = "D"

_MORE_THAN_PIDS = 2**23
_HOW = os.O_RDONLY | os.O_CLOEXEC


class Row(NamedTuple):
    """One process; times in seconds, `waited` of the children it has collected."""

    pid: int
    parent: int
    state: str
    started: int
    cpu: float
    waited: float
    memory: int


def read_table() -> dict[int, Row]:
    """Every process that can be seen, by pid."""
    if sys.platform != "linux":
        return _table_by_psutil()
    names = (name for name in os.listdir("/proc") if name.isdigit())
    return {row.pid: row for name in names if (row := read_row(int(name))) is not None}


def newest_first() -> list[int]:
    """The pids of all processes; those that may be gone soonest come first."""
    if sys.platform != "linux":
        import psutil  # noqa: PLC0415  # only where there is no /proc

        return sorted(psutil.pids(), reverse=True)
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    last = int((read("/proc/loadavg", 256) or b"0").split()[-1])  # pids begin again from below
    return sorted(pids, key=lambda pid: (last - pid) % _MORE_THAN_PIDS)


def read_row(pid: int) -> Row | None:
    """One process, or None if it is gone or hidden."""
    if sys.platform != "linux":
        return _row_by_psutil(pid)
    text = read(f"/proc/{pid}/stat", 4096)
    if text is None:
        return None
    # The name before it may hold anything.
    fields = text[text.rfind(b")") + 2 :].split(None, 22)
    tick, page = _units()
    return Row(
        pid,
        int(fields[1]),
        state_of(chr(fields[0][0]), int(fields[17])),
        int(fields[19]),
        (int(fields[11]) + int(fields[12])) / tick,
        (int(fields[13]) + int(fields[14])) / tick,
        int(fields[21]) * page,
    )


def read_io(pid: int) -> int:
    """The bytes a process has read and written, to whatever; 0 where that is not to be known."""
    text = read(f"/proc/{pid}/io", 512)
    if text is None:
        return 0
    words = text.split(None, 4)  # rchar: N wchar: N ...
    return int(words[1]) + int(words[3])


def tags_of(pid: int, variable: str = TAG_VARIABLE) -> tuple[str, ...]:
    """The tags a process carries in a variable; none if its environment is not to be read."""
    if sys.platform != "linux":
        return _tags_by_psutil(pid, variable)
    text = _read_of(pid, "environ")
    if not text:
        return ()
    mark = f"{variable}=".encode()
    place = 0 if text.startswith(mark) else text.find(b"\0" + mark) + 1
    if not place and not text.startswith(mark):
        return ()
    value = text[place + len(mark) :].partition(b"\0")[0]
    return tuple(tags_in(value.decode("ascii", "replace")))


def read_command(pid: int) -> list[str]:
    """The command line of a process; its name in brackets where it has none."""
    if sys.platform != "linux":
        return _command_by_psutil(pid)
    text = _read_of(pid, "cmdline")
    words = text.rstrip(b"\0").split(b"\0") if text else []
    if not words:
        name = (read(f"/proc/{pid}/comm", 64) or b"?").strip()
        words = [b"[" + name + b"]"]
    return [word.decode("utf-8", "replace") for word in words]


def read_cwd(pid: int) -> str:
    """The directory a process is in; nothing where that is not to be known."""
    if sys.platform != "linux":
        return _cwd_by_psutil(pid)
    for place in (f"/proc/{pid}", *other_threads(pid)):
        with suppress(OSError):
            return _readable(os.readlink(f"{place}/cwd"))
    return ""


def owner(pid: int) -> int | None:
    """The real user of a process; None if it is gone."""
    if sys.platform != "linux":
        return _owner_by_psutil(pid)
    text = read(f"/proc/{pid}/status", 4096)
    if text is None:
        return None
    place = text.find(b"\nUid:")
    return int(text[place + 5 :].split(None, 1)[0])


def is_mine(pid: int) -> bool:
    """A quick first look: whether the process seems to be of this user."""
    if sys.platform != "linux":
        return True
    try:
        return os.stat(f"/proc/{pid}").st_uid == os.geteuid()
    except OSError:
        return False


def children_of(table: Mapping[int, Row]) -> dict[int, list[int]]:
    """The children of each process."""
    found: dict[int, list[int]] = {}
    for row in table.values():
        found.setdefault(row.parent, []).append(row.pid)
    return found


def descendants(root: int, children: Mapping[int, list[int]]) -> list[int]:
    """A process and all below it, each once, parents first."""
    found, seen = [root], {root}
    for parent in found:  # grows as it goes
        for pid in children.get(parent, ()):
            if pid not in seen:
                seen.add(pid)
                found.append(pid)
    return found


def age(row: Row, boot_seconds: float) -> float:
    """For how many seconds a process has run, at that many after the start of the machine."""
    if sys.platform != "linux":
        return SystemClock().now().timestamp() - row.started / 1_000_000
    return boot_seconds - row.started / _units()[0]


def ancestors(pid: int, table: Mapping[int, Row]) -> set[int]:
    """A process, its parent, and so on up to the first."""
    found: set[int] = set()
    while pid in table and pid not in found:
        found.add(pid)
        pid = table[pid].parent
    return found


def read(path: str, most: int) -> bytes | None:
    """What one read of a file of the kernel gives; None if it is gone or may not be read."""
    try:
        descriptor = os.open(path, _HOW)
    except OSError:
        return None
    try:
        return os.read(descriptor, most)
    except OSError:  # it went away between the two
        return None
    finally:
        os.close(descriptor)


def _read_of(pid: int, name: str) -> bytes:
    """What a file of a process says; of one whose first thread has ended, another thread's."""
    text = read(f"/proc/{pid}/{name}", MOST_BYTES)
    if text:
        return text
    others = (read(f"{place}/{name}", MOST_BYTES) for place in other_threads(pid))
    return next((other for other in others if other), b"")


def other_threads(pid: int) -> list[str]:
    """Where the kernel tells of the threads of a process but the first."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    return [f"/proc/{pid}/task/{each}" for each in threads[1:]]


@cache
def _units() -> tuple[int, int]:
    """Ticks in a second, bytes in a page."""
    return os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")


def _readable(name: str) -> str:
    """A name of the system's, which may be of any bytes, as text that every engine stores."""
    return os.fsencode(name).decode("utf-8", "replace")


def begun_at(pid: int) -> float | None:
    """Its start in seconds since 1970; None if there is no such process, or it may not be seen."""
    import psutil  # noqa: PLC0415  # agents never ask

    try:
        return float(psutil.Process(pid).create_time())
    except (psutil.Error, ValueError, OverflowError):
        return None


def _table_by_psutil() -> dict[int, Row]:
    import psutil  # noqa: PLC0415  # only where there is no /proc

    rows = (_row_by_psutil(pid) for pid in psutil.pids())
    return {row.pid: row for row in rows if row is not None}


def _row_by_psutil(pid: int) -> Row | None:
    import psutil  # noqa: PLC0415  # only where there is no /proc

    try:
        process = psutil.Process(pid)
        with process.oneshot():
            state = "Z" if process.status() == psutil.STATUS_ZOMBIE else "S"
            started = int(process.create_time() * 1_000_000)
            parent = process.ppid() or 0
            try:
                times, memory = process.cpu_times(), process.memory_info().rss
            except psutil.AccessDenied:  # another user's: it is there, and that is all
                return Row(pid, parent, state, started, 0.0, 0.0, 0)
    except psutil.Error:
        return None
    waited = times.children_user + times.children_system
    return Row(pid, parent, state, started, times.user + times.system, waited, memory)


def _tags_by_psutil(pid: int, variable: str) -> tuple[str, ...]:
    import psutil  # noqa: PLC0415  # only where there is no /proc

    try:
        value = psutil.Process(pid).environ().get(variable)
    except (psutil.Error, OSError):
        return ()
    return tuple(tags_in(value)) if value else ()


def _command_by_psutil(pid: int) -> list[str]:
    import psutil  # noqa: PLC0415  # only where there is no /proc

    try:
        return [_readable(word) for word in psutil.Process(pid).cmdline()] or ["?"]
    except psutil.Error:
        return ["?"]


def _cwd_by_psutil(pid: int) -> str:
    import psutil  # noqa: PLC0415  # only where there is no /proc

    try:
        return _readable(psutil.Process(pid).cwd())
    except psutil.Error:
        return ""


def _owner_by_psutil(pid: int) -> int | None:
    import psutil  # noqa: PLC0415  # only where there is no /proc

    try:
        return int(psutil.Process(pid).uids().real)
    except psutil.Error:
        return None
