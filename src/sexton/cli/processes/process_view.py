"""How are background processes shown, to people and to programs?"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sexton.cli.terminal import Column, table
from sexton.core.session import NATIVE
from sexton.core.wording import size, span
from sexton.processes.model import Process, Watched
from sexton.processes.process_ports import Stopped

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
        _doing(each),
        span((process.ended_at or now) - process.started_at),
        f"{100 * figures.cpu / figures.seconds:.1f} %" if figures.seconds else "-",
        size(figures.memory) if figures.memory else "-",
        ", ".join(map(str, figures.ports)) or "-",
        until if each.holds else "no",
        process.command,
    )


def _doing(each: Watched) -> str:
    """What it does, or how it ended."""
    if each.process.ended_how:
        return each.process.ended_how
    return f"{each.doing}, kept" if each.process.kept else str(each.doing)


def _session(process: Process) -> str:
    name = process.session if process.home == NATIVE else f"{process.home}/{process.session}"
    over = process.session_state is not None if process.ref < 0 else True
    return f"{name} (ended)" if process.is_orphan and over else name


def show_stopped(found: Iterable[Stopped]) -> None:
    """One line for each process of the trees."""
    rows = ((str(each.pid), str(each.ending), each.why or "-", each.command) for each in found)
    table(_STOPPED, rows)
