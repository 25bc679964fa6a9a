"""Which sessions does a Hermes home itself connect with a process?

Leases, compression locks, delegations, turns and executions name one. What they name is believed
when that very process is alive; that a session is not named means nothing.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw

from sexton.errors import SextonError
from sexton.homes.hermes import kernel
from sexton.homes.hermes.documents import moment, read_json
from sexton.homes.hermes.fingerprint import Shape
from sexton.homes.hermes.hermes_database import read
from sexton.homes.hermes.hermes_turns import turns_of
from sexton.homes.hermes.holders import living_gateway
from sexton.homes.hermes.statements import EARLIEST, LATEST

LEASES = Path("runtime", "active_sessions.json")
EXECUTIONS = Path("cron", "executions.db")
LAST_THAT_RESETS = 22
"""The newest schema whose gateway is known to reset conversations by itself."""
SAME_START = 2.0
"""Seconds by which two readings of when a process started may differ."""
BEFORE_CLAIM = 5.0
"""Seconds by which a job's session may seem to begin before its execution does."""
BEATS_FOR = 600.0
"""Seconds after its last beat for which a backend that can not be seen from here may be alive."""
_HOLDER = re.compile(r"(?:.*:)?(?:pid=)?(\d{1,10})(?::.*)?", re.DOTALL)

ROUTED = """
    SELECT json_extract(entry_json, '$.session_id'), json_extract(entry_json, '$.updated_at')
    FROM gateway_routing
    WHERE json_valid(entry_json) AND json_type(entry_json, '$.session_id') = 'text'"""
COMPRESSING = """
    SELECT CAST(session_id AS TEXT), CAST(holder AS TEXT) FROM compression_locks
    WHERE expires_at > :now"""
DELEGATING = """
    SELECT CAST(origin_session AS TEXT), CAST(parent_session_id AS TEXT), owner_pid,
           owner_started_at
    FROM async_delegations WHERE completed_at IS NULL"""
# A lease is of a whole conversation, under the name of the first of its sessions.
IN_A_TURN = """
    WITH RECURSIVE busy (id) AS (
        SELECT conversation_id FROM session_turn_leases WHERE expires_at > :now
        UNION SELECT s.id FROM busy JOIN sessions AS s ON s.parent_session_id = busy.id)
    SELECT CAST(id AS TEXT) FROM busy"""
_NEEDED: Mapping[str, frozenset[str]] = {
    "compression_locks": frozenset({"session_id", "holder", "expires_at"}),
    "async_delegations": frozenset({"origin_session", "parent_session_id", "owner_started_at"}),
    "session_turn_leases": frozenset({"conversation_id", "expires_at"}),
    "gateway_heartbeats": frozenset({"pid", "started_at", "last_heartbeat", "host"}),
    "gateway_routing": frozenset({"entry_json"}),
}
SERVING = "SELECT pid, started_at, last_heartbeat, CAST(host AS TEXT) FROM gateway_heartbeats"
RUNNING = """
    SELECT CAST(job_id AS TEXT), pid, process_started_at, CAST(claimed_at AS TEXT)
    FROM executions WHERE status IN ('claimed', 'running')"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """A run of a job that has not been reported as over; `alive` says whether its process is."""

    pid: int
    alive: bool
    since: float

    def covers(self, started_at: float | None) -> bool:
        """Whether a session that began then may be of this run."""
        return started_at is None or started_at >= self.since - BEFORE_CLAIM


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """The sessions that are claimed by a living process, each with why, and what else is known.

    Newer gateways leave it to others to reset conversations, and newer backends say that they are
    there, whether or not they have the database open just now. `used` says when a routed session
    was last used, `turns` how many turns the gateway says that it runs, if it says so.
    """

    gateway_resets: bool = False
    live: Mapping[str, str] = field(default_factory=dict)
    routed: frozenset[str] = frozenset()
    used: Mapping[str, float] = field(default_factory=dict)
    turns: int | None = None
    now: float = 0.0
    backends: tuple[int, ...] = ()
    executions: Mapping[str, tuple[Execution, ...]] = field(default_factory=dict)


def claims_in(db: apsw.Connection, shape: Shape, home: Path, now: float) -> Claims:
    """What the database and the lease file say; `executions_of` is asked apart."""
    live = dict(_leased(home))
    for session, holder in _rows(db, "compression_locks", COMPRESSING, now=now):
        named = _HOLDER.fullmatch(str(holder))
        if named and kernel.start_ticks(int(named[1])) is not None:
            live[session] = f"pid {named[1]} is compressing it"
    for origin, parent, pid, ticks in _rows(db, "async_delegations", DELEGATING):
        if kernel.lives(pid, ticks):
            for session in filter(None, (origin, parent)):
                live[session] = f"pid {pid} waits for what it delegated"
    for (session,) in _rows(db, "session_turn_leases", IN_A_TURN, now=now):
        live[session] = "a turn of it runs"
    routed = _rows(db, "gateway_routing", ROUTED)
    beats = _rows(db, "gateway_heartbeats", SERVING)
    return Claims(
        live=live,
        routed=frozenset(session for session, _ in routed),
        used={session: _epoch(at) for session, at in routed},
        turns=turns_of(home, living_gateway(home)),
        now=now,
        gateway_resets=shape.version <= LAST_THAT_RESETS,
        backends=tuple(sorted(row[0] for row in beats if _serves(now, *row))),
    )


def _serves(now: float, pid: object, started_at: object, beat: object, host: object) -> bool:
    """Whether a backend may be there: by the kernel on this machine, by its beat elsewhere."""
    if type(pid) is not int or pid <= 0:
        return False
    if host in ("", None, socket.gethostname()):
        began = kernel.began(pid) if kernel.start_ticks(pid) is not None else 0.0
        known = isinstance(started_at, int | float)
        return began > 0 and (not known or began <= float(str(started_at)) + SAME_START)
    return isinstance(beat, int | float) and now - beat < BEATS_FOR


def executions_of(home: Path) -> dict[str, tuple[Execution, ...]]:
    """The runs of jobs that are not over, by job; none if the file can not be read."""
    database = home / EXECUTIONS
    if not database.is_file():
        return {}
    try:
        rows = read(database, lambda db: db.execute(RUNNING).fetchall())
    except SextonError:
        return {}
    found: dict[str, tuple[Execution, ...]] = {}
    for job, pid, ticks, claimed_at in rows:
        if type(pid) is int:
            run = Execution(pid=pid, alive=kernel.lives(pid, ticks), since=_epoch(claimed_at))
            found[str(job)] = (*found.get(str(job), ()), run)
    return found


def _leased(home: Path) -> Iterator[tuple[str, str]]:
    document = read_json(home / LEASES)
    entries = document.get("entries") if isinstance(document, dict) else document
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, dict):
            continue
        session, pid = entry.get("session_id"), entry.get("pid")
        if type(pid) is int and isinstance(session, str) and _started(pid, entry):
            yield session, f"pid {pid} has leased it"


def _started(pid: int, entry: Mapping[str, Any]) -> bool:
    """Whether the process lives that took the lease; Hermes notes its start in wall time."""
    noted = moment(entry.get("process_start_time"))
    if pid <= 0 or kernel.start_ticks(pid) is None:
        return False
    return noted is None or abs(kernel.began(pid) - noted) < SAME_START


def _rows(db: apsw.Connection, table: str, sql: str, **values: float) -> list[Any]:
    """What a table says; nothing where it is not there, or not yet as it is known."""
    there = {row[1] for row in db.execute(f"PRAGMA table_info({table})")}
    return db.execute(sql, values).fetchall() if _NEEDED[table] <= there else []


def _epoch(text: object) -> float:
    """A time of Hermes; one that can not be read is long ago, so that it covers everything."""
    try:
        at = datetime.fromisoformat(str(text)).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0
    return at if EARLIEST <= at <= LATEST else 0.0
