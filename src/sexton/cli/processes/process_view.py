"""How are background processes shown, to people and to programs?"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sexton.cli.terminal import Column, table
from sexton.core.session import NATIVE
from sexton.core.wording import moment_of, size, span
from sexton.operations.said import Process

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


def show(processes: Iterable[Process], now: datetime) -> None:
    """One line for each process."""
    table(_COLUMNS, (_row(each, now) for each in processes))


def _row(each: Process, now: datetime) -> tuple[str, ...]:
    until = f"until {moment_of(each['holds_until']):%m-%d %H:%M} UTC"
    ended = moment_of(each["ended_at"]) if each["ended_at"] else now
    share = 100 * each["cpu_seconds"] / each["window_seconds"] if each["window_seconds"] else None
    return (
        str(each["pid"] or "-"),
        _session(each),
        each["task"] or "-",
        "hint" if each["hint"] else str(each["kind"]),
        _doing(each),
        span(ended - moment_of(each["started_at"])),
        "-" if share is None else f"{share:.1f} %",
        size(each["memory_bytes"]) if each["memory_bytes"] else "-",
        ", ".join(map(str, each["ports"])) or "-",
        until if each["holds_reset"] else "no",
        each["command"],
    )


def _doing(each: Process) -> str:
    """What it does, or how it ended."""
    return each["ended_how"] or (f"{each['doing']}, kept" if each["kept"] else str(each["doing"]))


def _session(each: Process) -> str:
    name = each["session"] if each["home"] == NATIVE else f"{each['home']}/{each['session']}"
    return f"{name} (ended)" if each["orphan"] else name
