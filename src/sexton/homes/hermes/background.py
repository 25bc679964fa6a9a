"""Which background processes does a Hermes home say it has?

Its file is written by whichever Hermes process wrote last and survives a crash: an entry is a
hint, never a proof of whose a process is. One whose process is gone is no hint at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sexton.homes.hermes import kernel
from sexton.homes.hermes.documents import read_json
from sexton.homes.hermes.statements import EARLIEST, LATEST
from sexton.model.masking import masked
from sexton.model.process import Process, ProcessKind
from sexton.model.record import replace
from sexton.model.worker import Identity

FILE = "processes.json"
MOST = 1_000


def hinted(home: Path, name: str, here: Identity) -> Iterator[Process]:
    """The entries whose very process is alive on this machine; none of them is a row of ours."""
    entries = read_json(home / FILE)
    for entry in entries[:MOST] if isinstance(entries, list) else ():
        if isinstance(entry, dict) and _is_alive(entry):
            yield _process(entry, name, here)


def _is_alive(entry: Mapping[str, Any]) -> bool:
    here = entry.get("pid_scope", "host") == "host"
    return here and kernel.lives(entry.get("pid"), entry.get("host_start_time"))


def _process(entry: Mapping[str, Any], home: str, here: Identity) -> Process:
    pid, began = int(entry["pid"]), entry.get("started_at")
    known = isinstance(began, int | float) and EARLIEST <= began <= LATEST
    return Process(
        identity=replace(here, pid=pid, started=int(entry["host_start_time"]), inode=None),
        session=_text(entry.get("session_key")) or "?",
        task=None,
        kind=ProcessKind.UNKNOWN,
        command=masked(_text(entry.get("command")).split() or kernel.command(pid)),
        cwd=_text(entry.get("cwd")),
        started_at=datetime.fromtimestamp(began if known and began else kernel.began(pid), UTC),
        registered_by=FILE,
        ref=-pid,
        home=home,
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
