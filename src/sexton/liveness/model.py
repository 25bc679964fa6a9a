"""Who holds a session, what the dead leave behind, and what was counted of both."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from sexton.core.record import record

if TYPE_CHECKING:  # a session has holders, so these load this module themselves
    from sexton.core.plan import Seen
    from sexton.core.schedule import Schedule
    from sexton.store.journal import Entry


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


@record
class Left:
    """An open session that the dead hold: as much of it as its end takes, and all its holders."""

    seen: Seen
    source: str
    parent: str | None
    holders: tuple[str, ...]


@record
class Lost:
    """A session that is over and is to go on, held by `worker` if there is one.

    `undoes` is the journal's entry of its end, which a person takes back; without one only what
    was taken for dead goes on.
    """

    ref: int
    schedule: Schedule
    entry: Entry
    worker: str | None = None
    undoes: int | None = None


@record
class Sample:
    """How the open sessions of a home stood at one moment."""

    home: str
    at: datetime
    open: int
    live: int
    waiting: int
    leaked: int
    unproven: int


@record
class ShadowCount:
    """Reaps that were only recorded for a home, and how many activity proved wrong."""

    home: str
    recorded: int
    contradicted: int
