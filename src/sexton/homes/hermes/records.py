"""What is there of a session in a Hermes database, so that it can be put back exactly?

All columns of its row, the rows of other tables that refer to it, and which sessions have it as
their parent. Values are kept with their types; what JSON can not hold exactly is refused.
"""

from __future__ import annotations

import json
import math
from base64 import b64decode, b64encode
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from sexton.homes.hermes.statements import EARLIEST, LATEST
from sexton.retention.home_storage import Taken, as_text
from sexton.retention.model import StoredMessage

TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'"
CHILDREN = "SELECT id FROM sessions WHERE parent_session_id = :id AND id <> :id ORDER BY id"
TALLY = "SELECT COUNT(*), MAX(id) FROM messages WHERE session_id = :id"
_LEADING = (
    (
        "compression_locks",
        "SELECT 1 FROM compression_locks WHERE session_id = :id AND expires_at > :now",
        "it is being compressed",
    ),
    (
        "session_turn_leases",
        "SELECT 1 FROM session_turn_leases WHERE conversation_id = :id AND expires_at > :now",
        "a turn of its conversation runs",
    ),
    (
        "gateway_routing",
        """SELECT 1 FROM gateway_routing
           WHERE json_valid(entry_json) AND json_extract(entry_json, '$.session_id') = :id""",
        "the gateway still leads to it",
    ),
    (
        "telegram_dm_topic_bindings",
        "SELECT 1 FROM telegram_dm_topic_bindings WHERE session_id = :id",
        "a topic of Telegram still leads to it",
    ),
)
"""What shows that somebody is at a session or will come back to it."""
_APART = ("id", "session_id", "role", "content")
_BASE64 = "base64"


class Inexact(Exception):
    """A value that can not be kept exactly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The columns of the two tables, and the tables around them.

    Those `beside` refer to a session by a column of theirs; to those `below` a session refers by a
    column of its own, and each has a column that is meant by it.
    """

    sessions: tuple[str, ...]
    messages: tuple[str, ...]
    beside: Mapping[str, tuple[str, tuple[str, ...]]]
    below: Mapping[str, tuple[str, str, tuple[str, ...]]]


def layout(db: apsw.Connection) -> Layout:
    """How this database keeps sessions."""
    beside: dict[str, tuple[str, tuple[str, ...]]] = {}
    for table in [row[0] for row in db.execute(TABLES)]:
        if table in ("sessions", "messages"):
            continue
        for other, column, _ in _references(db, table):
            if other == "sessions":
                beside[table] = (column, _columns(db, table))
    return Layout(
        sessions=_columns(db, "sessions"),
        messages=_columns(db, "messages"),
        beside=beside,
        below={
            other: (column, meant, _columns(db, other))
            for other, column, meant in _references(db, "sessions")
            if other != "sessions"
        },
    )


def take(db: apsw.Connection, shape: Layout, id: str, now: float) -> Taken | None:
    """What there is of one session, or why it is better left alone; None if it is not there."""
    try:
        row = _one(db, "sessions", "id", shape.sessions, id)
        if row is None:
            return None
        refusal = _refusal(db, row, id, now)
        if refusal is not None:
            return Taken(refusal=refusal)
        tally: list[Any] = db.execute(TALLY, {"id": id}).fetchall()
        count, last = tally[0]
        known = {
            "session": row,
            "beside": {
                table: rows
                for table, (column, columns) in sorted(shape.beside.items())
                if (rows := list(_all(db, table, column, columns, id)))
            },
            "below": {
                table: found
                for table, (column, meant, columns) in sorted(shape.below.items())
                if (found := _one(db, table, meant, columns, row[column])) is not None
            },
            "children": [each for (each,) in db.execute(CHILDREN, {"id": id}).fetchall()],
            "messages": count,
            "last": last,
        }
        return Taken(text=as_text(known), messages=count)
    except (Inexact, UnicodeDecodeError) as problem:
        return Taken(refusal=f"its rows can not be kept exactly: {problem}")


def stored(
    db: apsw.Connection, shape: Layout, id: str, after: int = 0, limit: int = -1
) -> Iterator[StoredMessage]:
    """The messages of a session in their order, numbered on from `after`."""
    columns = ", ".join(quoted(name) for name in shape.messages)
    rows = db.execute(
        f"""SELECT {columns} FROM messages WHERE session_id = :id
            ORDER BY id LIMIT :limit OFFSET :after""",
        {"id": id, "limit": limit, "after": after},
    )
    for seq, values in enumerate(rows, after + 1):
        yield _message(seq, dict(zip(shape.messages, values, strict=True)))


def message_row(session: str, message: StoredMessage, columns: Sequence[str]) -> dict[str, Any]:
    """The row of a message as it was."""
    extra = json.loads(message.extra or b"{}")
    content = message.content
    row = {name: plain(extra.get(name)) for name in columns}
    text = None if content is None else content.decode() if message.is_text else content
    return row | {"session_id": session, "role": message.role, "content": text}


def plain(value: Any) -> Any:
    """A value as the database has it."""
    return b64decode(value[_BASE64], validate=True) if isinstance(value, dict) else value


def plain_row(row: Mapping[str, Any], columns: Collection[str]) -> dict[str, Any]:
    """A row as the database has it, as far as it has such columns."""
    return {name: plain(value) for name, value in row.items() if name in columns}


def quoted(name: str) -> str:
    """A name of a table or column in SQL."""
    return '"' + name.replace('"', '""') + '"'


def _message(seq: int, row: Mapping[str, Any]) -> StoredMessage:
    role, content, at = row["role"], row["content"], row.get("timestamp")
    if not isinstance(role, str) or not isinstance(content, str | bytes | None):
        raise Inexact("a message has no text")
    extra = {name: kept(value) for name, value in row.items() if name not in _APART[1:]}
    since = at if isinstance(at, int | float) and EARLIEST <= at <= LATEST else 0
    return StoredMessage(
        seq=seq,
        at=round(since * 1_000_000),
        role=role,
        is_text=int(not isinstance(content, bytes)),
        content=content.encode() if isinstance(content, str) else content,
        extra=as_text({name: value for name, value in extra.items() if value is not None}).encode(),
    )


def kept(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, bytes):
        return {_BASE64: b64encode(value).decode()}
    if isinstance(value, float) and not math.isfinite(value):
        raise Inexact("a number in it is not finite")
    return value


def _refusal(db: apsw.Connection, row: Mapping[str, Any], id: str, now: float) -> str | None:
    """Why a session must not leave its home now."""
    if row["ended_at"] is None:
        return "it is open again"
    if row.get("archived") or row.get("pinned"):
        return "it was pinned or archived in its home"
    if row.get("handoff_state") == "pending":
        return "it is about to be handed over to another platform"
    for table, sql, words in _LEADING:
        there = db.table_exists("main", table)
        if there and db.execute(sql, {"id": id, "now": now}).fetchall():
            return words
    return None


def _references(db: apsw.Connection, table: str) -> list[tuple[str, str, str]]:
    """To which tables a table refers, by which column, and which column there is meant."""
    found: list[Any] = db.execute(f"PRAGMA foreign_key_list({quoted(table)})").fetchall()
    return [(str(row[2]), str(row[3]), str(row[4] or "id")) for row in found]


def _columns(db: apsw.Connection, table: str) -> tuple[str, ...]:
    return tuple(row[1] for row in db.execute(f"PRAGMA table_info({quoted(table)})"))


def _one(
    db: apsw.Connection, table: str, column: str, columns: Sequence[str], id: Any
) -> dict[str, Any] | None:
    return next(_all(db, table, column, columns, id), None)


def _all(
    db: apsw.Connection, table: str, column: str, columns: Sequence[str], id: Any
) -> Iterator[dict[str, Any]]:
    names = ", ".join(map(quoted, columns))
    sql = f"SELECT {names} FROM {quoted(table)} WHERE {quoted(column)} = :id ORDER BY rowid"
    for values in db.execute(sql, {"id": id}).fetchall():
        yield dict(zip(columns, map(kept, values), strict=True))
