"""How are background processes shown, to people and to programs?"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sexton.cli.terminal import Column, table
from sexton.cli.wording import iso, size, span
from sexton.model.process import Process, Watched
from sexton.model.session import NATIVE
from sexton.policies.processes import bearing
from sexton.ports.processes import Stopped

_COLUMNS = (
    Column("PID", right=True),
    Column("SESSION", cut=True),
    Column("TASK", cut=True, spare=True),
    Column("KIND", spare=True),
    Column("DOING"),
    Column("AGE", right=True),
    Column("CPU", right=True),
    Column("MEMORY", right=True),
    Column("PORTS"),
    Column("HOLDS A RESET"),
    Column("COMMAND", cut=True),
)
_STOPPED = (
    Column("PID", right=True),
    Column("RESULT"),
    Column("BECAUSE", cut=True),
    Column("COMMAND", cut=True),
)


def show(processes: Iterable[Watched], now: datetime) -> None:
    """One line for each process."""
    table(_COLUMNS, (_row(each, now) for each in processes))


def _row(each: Watched, now: datetime) -> tuple[str, ...]:
    process, figures = each.process, each.figures
    until = f"until {each.holds_until:%m-%d %H:%M} UTC"
    return (
        str(process.identity.pid or "-"),
        _session(process),
        process.task or "-",
        "hint" if process.ref < 0 else str(process.kind),
        f"{each.doing}, kept" if process.kept else str(each.doing),
        span((process.ended_at or now) - process.started_at),
        f"{100 * figures.cpu / figures.seconds:.1f} %" if figures.seconds else "-",
        size(figures.memory) if figures.memory else "-",
        ", ".join(map(str, figures.ports)) or "-",
        until if each.holds else "no",
        process.command,
    )


def _session(process: Process) -> str:
    name = process.session if process.home == NATIVE else f"{process.home}/{process.session}"
    over = process.session_state is not None if process.ref < 0 else True
    return f"{name} (ended)" if process.is_orphan and over else name


def shape(each: Watched) -> dict[str, Any]:
    """A process for programs."""
    process, who = each.process, each.process.identity
    return {
        "pid": who.pid or None,
        "host": who.host,
        "home": process.home,
        "session": process.session,
        "session_state": process.session_state and process.session_state.value,
        "task": process.task,
        "kind": process.kind.value,
        "command": process.command,
        "cwd": process.cwd,
        "started_at": iso(process.started_at),
        "registered_by": process.registered_by,
        "hint": process.ref < 0,
        "kept": process.kept,
        "doing": each.doing.value,
        "because": each.because,
        "cpu_seconds": each.figures.cpu,
        "io_bytes": each.figures.io,
        "window_seconds": each.figures.seconds,
        "memory_bytes": each.figures.memory,
        "processes": each.figures.processes,
        "ports": list(each.figures.ports),
        "holds_reset": each.holds,
        "holds_until": iso(each.holds_until),
        "bearing": bearing(each),
        "ended_at": iso(process.ended_at),
        "ended_how": process.ended_how,
    }


def show_stopped(found: Iterable[Stopped]) -> None:
    """One line for each process of the trees."""
    rows = ((str(each.pid), str(each.ending), each.why or "-", each.command) for each in found)
    table(_STOPPED, rows)


def stopped_shape(each: Stopped) -> dict[str, Any]:
    """What came of a process, for programs."""
    return {
        "pid": each.pid,
        "result": each.ending.value,
        "because": each.why or None,
        "command": each.command,
    }
