"""The background processes that a Hermes home says it has, as the engine knows processes.

The file is written by whichever Hermes process wrote last and survives a crash: an entry is a
hint, never a proof of whose a process is. One whose process is gone is no hint at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from sexton.core.record import replace
from sexton.homes.hermes import kernel
from sexton.homes.hermes.running import Background, background_processes
from sexton.liveness.model import Identity
from sexton.processes.masking import masked
from sexton.processes.model import Process, ProcessKind

FILE = "processes.json"


def hinted(home: Path, name: str, here: Identity) -> Iterator[Process]:
    """The entries whose very process is alive on this machine; none of them is a row of ours.

    Whoever wrote the file names processes of their own only: with other rights we would end for
    them what they can not end.
    """
    writer = kernel.owner(home / FILE)
    for each in background_processes(home / FILE, kernel.lives, kernel.began):
        ticks = kernel.start_ticks(each.pid)
        if ticks is not None and kernel.owner(f"/proc/{each.pid}") == writer:
            yield as_process(each, name, replace(here, pid=each.pid, started=ticks, inode=None))


def as_process(each: Background, home: str, who: Identity) -> Process:
    """An entry as the engine knows processes; its row is no row of the ledger."""
    return Process(
        identity=who,
        session=each.session or "?",
        task=None,
        kind=ProcessKind.UNKNOWN,
        command=each.command or masked(kernel.command(each.pid)),
        cwd=each.cwd,
        started_at=datetime.fromtimestamp(each.started_at, UTC),
        registered_by=FILE,
        ref=-each.pid,
        home=home,
    )
