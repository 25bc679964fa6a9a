"""What do Hermes's own rows say, and how does one end? Through Hermes's own library only."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from importlib import import_module
from typing import Any

from sexton.core.plan import Reason
from sexton.core.session import Relation, Session, State
from sexton.errors import HomeUnreadable
from sexton.homes.hermes.owners import BY_THEMSELVES

Row = Mapping[str, Any]

SAID = """
    SELECT COUNT(*), COALESCE(SUM(LENGTH(CAST(content AS BLOB))), 0),
           COUNT(CASE role WHEN 'user' THEN 1 END), MAX(timestamp)
    FROM messages WHERE session_id = ?"""
"""Hermes's own figure is that of the messages it still sends."""

BESIDE = """
    SELECT model, task = '', SUM(input_tokens), SUM(output_tokens), SUM(cache_read_tokens),
           SUM(cache_write_tokens), SUM(reasoning_tokens)
    FROM session_model_usage WHERE session_id = ? GROUP BY model, task = ''"""
BESIDE_NAMES = (
    "model",
    "is_conversation",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)

CLOSING: Mapping[str, str] = {
    "cli": "cli_close",
    "cron": "cron_complete",
    "subagent": "agent_close",
}
"""How Hermes itself ends a session of a source; those of other sources outlive their process."""

RESET = "session_reset"
"""How a conversation of a gateway ends so that its next message begins a new one."""
GOES_ON = ("agent_close", "ws_orphan_reap")
"""The ends after which Hermes itself goes on with the same row."""
COMPRESSION = "compression"


def find(id: str) -> Row | None:
    """The row of a session; None while Hermes has not written it."""
    with _database(read_only=True) as db:
        row = db.get_session(id)
        if row is None:
            return None
        names = ("messages", "bytes", "from_user", "last_at")
        said = db._conn.execute(SAID, (id,)).fetchone()
        parent = db.get_session(row.get("parent_session_id") or "") or {}
        return {
            **row,
            "said": dict(zip(names, tuple(said), strict=True)),
            "parent_end_reason": parent.get("end_reason"),
        }


def successor(id: str) -> str:
    """The session under that id, or the one that its number follows if it has ended for good."""
    with _database(read_only=True) as db:
        number, name = 1, id
        while (row := db.get_session(name)) is not None and _is_over(row):
            number += 1
            name = f"{id}-{number}"
        return name


def _is_over(row: Row) -> bool:
    return row.get("ended_at") is not None and row.get("end_reason") not in (*GOES_ON, COMPRESSION)


def beside(id: str) -> list[Row]:
    """What Hermes has asked models for a session, by model, in its conversation and beside it."""
    with _database(read_only=True) as db:
        found = db._conn.execute(BESIDE, (id,)).fetchall()
    return [dict(zip(BESIDE_NAMES, tuple(row), strict=True)) for row in found]


def end(id: str, reason: str) -> None:
    """End a session that is open; the first reason stands."""
    with _database() as db:
        db.end_session(id, reason)


def end_for(session: Session, reason: Reason) -> datetime | None:
    """End a session that is open for a reason of ours; when that was, or None if it was not open.

    Hermes's gateway begins anew at the next message after a reason it knows for a reset.
    """
    word = RESET if session.key or session.source not in BY_THEMSELVES else reason.code
    with _database() as db:
        row = db.get_session(session.id)
        if row is None or row.get("ended_at") is not None:
            return None
        db.end_session(session.id, word)
        row = db.get_session(session.id)
    return None if row is None else _moment(row.get("ended_at"), session.active_at)


def told(row: Row, now: datetime) -> Session:
    """A row as the ledger knows sessions; whoever observes the home tells more."""
    ended, said = row.get("ended_at"), row.get("said") or {}
    started_at = _moment(row.get("started_at"), now)
    source, parent = str(row.get("source") or "unknown"), row.get("parent_session_id")
    relation = _relation(row, source) if parent else None
    return Session(
        ref=0,
        home="",
        id=str(row["id"]),
        key=row.get("session_key") or None,
        source=source,
        parent=None if relation is None else parent,
        relation=relation,
        state=State.OPEN if ended is None else State.ENDED,
        started_at=started_at,
        active_at=max(started_at, _moment(said.get("last_at"), started_at)),
        ended_at=None if ended is None else _moment(ended, now),
        end_reason=None if ended is None else str(row.get("end_reason") or "ended"),
        message_count=said.get("messages", 0),
        byte_count=said.get("bytes", 0),
        turn_count=said.get("from_user", 0),
        title=row.get("title") or None,
    )


def _relation(row: Row, source: str) -> Relation | None:
    """How it came from its parent, if they spend from the budgets of one tree."""
    try:
        marks = json.loads(row.get("model_config") or "{}")
    except (TypeError, ValueError):
        marks = {}
    known = marks if isinstance(marks, dict) else {}
    goes_on = row.get("parent_end_reason") == COMPRESSION and source != "tool"
    delegated_by = known.get("_delegate_from")
    # A subagent that is compressed hands its tag on, which names another row than its parent then.
    if delegated_by and (not goes_on or delegated_by == row.get("parent_session_id")):
        return Relation.SUBAGENT
    if goes_on and not known.get("_branched_from"):
        return Relation.COMPRESSION
    return Relation.SUBAGENT if source == "subagent" else None


def _moment(at: object, now: datetime) -> datetime:
    if not isinstance(at, int | float):
        return now
    try:
        return datetime.fromtimestamp(at, UTC)
    except (ValueError, OverflowError, OSError):
        return now


@contextmanager
def _database(**options: Any) -> Iterator[Any]:
    try:
        with closing(import_module("hermes_state").SessionDB(**options)) as db:
            yield db
    except Exception as problem:
        raise HomeUnreadable(f"Hermes can not use its own database: {problem}") from problem
