"""A background process that belongs to a session."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from sexton.model.record import record
from sexton.model.worker import Identity


class ProcessKind(StrEnum):
    """What a background process is for."""

    JOB = "job"
    SERVER = "server"
    MCP = "mcp"
    BROWSER = "browser"
    UNKNOWN = "unknown"


@record
class Process:
    """A registered process: whose it is, what it runs, and until when it may hold a reset back."""

    identity: Identity
    session: str
    task: str | None
    kind: ProcessKind
    command: str
    cwd: str
    started_at: datetime
    expires_at: datetime | None = None
    registered_by: str | None = None
