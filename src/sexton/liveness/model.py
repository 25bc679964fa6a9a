"""Who holds a session: a process, and how it is told from every other process."""

from __future__ import annotations

from datetime import datetime

from sexton.core.record import record


@record
class Identity:
    """One process of one boot of one machine.

    `started` is the kernel's start tick; `inode` is the process's number in pidfs, unique in a
    boot, where the kernel has it (6.9 and newer).
    """

    host: str
    boot_id: str
    pid: int
    started: int
    inode: int | None = None
    pid_namespace: int | None = None
    uid: int = 0


@record
class Worker:
    """An agent process or keeper that registered with the ledger."""

    id: str
    identity: Identity
    kind: str
    version: str
    beat: int
    registered_at: datetime
    left_at: datetime | None = None
    swept_at: datetime | None = None
    dead_at: datetime | None = None
    evidence: str | None = None


@record
class Holder:
    """A worker that has a session open.

    `busy_since` is set while a turn of its runs, `progress_at` when that turn last got on.
    """

    worker: Worker
    joined_at: datetime
    busy_since: datetime | None = None
    progress_at: datetime | None = None
