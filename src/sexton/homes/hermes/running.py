"""Which processes does a Hermes home name, and do they still run?

What a file says about a process is a hint: the kernel is asked whether the process with that number
started when the file says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from sexton.core.machine_ports import ProcessTable
from sexton.core.message import one_line
from sexton.core.record import replace
from sexton.homes.hermes.documents import moment, read_json
from sexton.homes.hermes.statements import EARLIEST, LATEST
from sexton.liveness.evidence import Sight
from sexton.processes.masking import masked
from sexton.processes.model import Doing

LONGEST_COMMAND = 200
MOST = 1_000
SECONDS_APART = 5.0
"""Between the moment that was written down and the start that the kernel knows of."""

Begun = Callable[[int], float | None]
"""When a process of this machine started, in seconds since 1970."""


Runs = Callable[[object, object], bool]
"""Whether the process with that number is the one that started at that tick of the kernel."""


class Background(NamedTuple):
    """A process that a session started and that still runs, and what it was seen doing."""

    pid: int
    command: str
    session: str
    started_at: float
    cwd: str = ""
    doing: Doing = Doing.UNKNOWN


def background_processes(file: Path, runs: Runs, begun_at: Begun) -> Iterator[Background]:
    """The processes of the file that still run on this machine.

    Older releases write down the moment of a start instead of the kernel's tick.
    """
    stored = read_json(file)
    for entry in stored[:MOST] if isinstance(stored, list) else ():
        if not isinstance(entry, dict) or entry.get("pid_scope", "host") != "host":
            continue
        pid, ticks = entry.get("pid"), entry.get("host_start_time")
        begun = moment(entry.get("started_at"))
        if begun is None or not EARLIEST <= begun <= LATEST or not _is_pid(pid):
            continue
        if runs(pid, ticks) or (ticks is None and _began_then(pid, begun, begun_at)):
            yield Background(
                int(str(pid)),
                masked(_text(entry.get("command")).split())[:LONGEST_COMMAND],
                _text(entry.get("session_key")),
                begun,
                _text(entry.get("cwd")),
            )


def runs_by(table: ProcessTable) -> Runs:
    """What a table of processes says of a number and a tick."""
    return partial(_runs, table=table)


def gateway_pid(file: Path, table: ProcessTable) -> int | None:
    """The process that runs this home's gateway, if one does."""
    stored = read_json(file)
    if not isinstance(stored, dict):
        return None
    pid = stored.get("pid")
    return int(str(pid)) if _runs(pid, stored.get("start_time"), table=table) else None


def _began_then(pid: Any, begun: float, begun_at: Begun) -> bool:
    started = begun_at(pid) if _is_pid(pid) else None
    return started is not None and abs(started - begun) <= SECONDS_APART


def _is_pid(pid: Any) -> bool:
    return isinstance(pid, int) and not isinstance(pid, bool) and 0 < pid < 2**31


def _text(value: object) -> str:
    return one_line(value) if isinstance(value, str) else ""


def _runs(pid: Any, ticks: Any, *, table: ProcessTable) -> bool:
    if not (_is_pid(pid) and isinstance(ticks, int)):
        return False
    process = replace(table.myself(), pid=pid, started=ticks, inode=None)
    return table.look(process) is Sight.PRESENT
