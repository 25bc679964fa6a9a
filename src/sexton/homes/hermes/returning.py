"""How is a session put back into a Hermes database?

Each function is one step in a transaction of its own, and may be repeated.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import apsw

from sexton.errors import HomeOutgrown
from sexton.homes.hermes.hermes_writer import Writer
from sexton.homes.hermes.records import Layout, layout, message_row, plain_row, quoted
from sexton.retention.model import StoredMessage

RELINK = """
    UPDATE sessions SET parent_session_id = :id
    WHERE id IN (SELECT value FROM json_each(:children)) AND parent_session_id IS NULL"""
HAS_TITLE = "SELECT 1 FROM sessions WHERE title = :title AND id <> :id"
HAS_ROW = "SELECT 1 FROM sessions WHERE id = :id"
BEGAN = "SELECT source, started_at FROM sessions WHERE id = :id"
WHOLE = "SELECT COUNT(*) FROM messages WHERE session_id = :id AND id <= :last"


def begin_return(db: Writer, known: Mapping[str, Any], messages: Sequence[StoredMessage]) -> bool:
    """Store the session itself; False if a session of that id is there which is another one.

    HomeOutgrown if there is no place for all of it any more, or for its first messages.
    """
    shape = layout(db)
    session = dict(known["session"])
    id = session["id"]
    _check_all(known, messages, shape)
    if db.execute(HAS_ROW, {"id": id}).fetchall():
        return _is_it(db, known)
    row = _fitting(db, plain_row(session, shape.sessions))
    for table, needed in known["below"].items():
        if table in shape.below:
            _insert(db, table, plain_row(needed, shape.below[table][2]))
    _insert(db, "sessions", row)
    for table, rows in known["beside"].items():
        if table in shape.beside:
            for each in rows:
                _insert(db, table, plain_row(each, shape.beside[table][1]))
    db.change(RELINK, {"id": id, "children": json.dumps(known["children"])})
    return True


def _check_all(known: Mapping[str, Any], messages: Sequence[StoredMessage], shape: Layout) -> None:
    _check("sessions", known["session"], shape.sessions)
    for table, rows in known["beside"].items():
        for each in rows:
            _check(table, each, shape.beside.get(table, ("", ()))[1])
    for table, needed in known["below"].items():
        _check(table, needed, shape.below.get(table, ("", "", ()))[2])
    for message in messages:
        _check_message(message, shape)


def _check_message(message: StoredMessage, shape: Layout) -> None:
    _check("messages", json.loads(message.extra or b"{}"), shape.messages)


def _check(table: str, row: Mapping[str, Any], columns: Collection[str]) -> None:
    """Refuse to lose what there is no place for any more."""
    lost = [name for name, value in row.items() if value is not None and name not in columns]
    if lost:
        raise HomeOutgrown(f"the home has no column '{lost[0]}' of {table} any more")


def _fitting(db: apsw.Connection, row: dict[str, Any]) -> dict[str, Any]:
    """The row without a parent that is gone and a title that another session has now."""
    parent = row.get("parent_session_id")
    if parent is not None and not db.execute(HAS_ROW, {"id": parent}).fetchall():
        row["parent_session_id"] = None
    if row.get("title") is not None and _is_taken(db, row):
        row["title"] = None
    return row


def _is_taken(db: apsw.Connection, row: Mapping[str, Any]) -> bool:
    return bool(db.execute(HAS_TITLE, {"title": row["title"], "id": row["id"]}).fetchall())


def _is_it(db: apsw.Connection, known: Mapping[str, Any]) -> bool:
    """Whether the session of that id is the one that was taken, whatever became of it since."""
    began = db.execute(BEGAN, {"id": known["session"]["id"]}).fetchall()
    return began == [(known["session"]["source"], known["session"]["started_at"])]


def store_messages(db: Writer, known: Mapping[str, Any], messages: Sequence[StoredMessage]) -> None:
    shape, id = layout(db), known["session"]["id"]
    for message in messages:
        _check_message(message, shape)
        _insert(db, "messages", message_row(id, message, shape.messages))


def store_whole(db: Writer, known: Mapping[str, Any], messages: Sequence[StoredMessage]) -> bool:
    """All of a small session at once; whether it is there and whole."""
    if not begin_return(db, known, messages):
        return False
    store_messages(db, known, messages)
    return is_whole(db, known)


def is_whole(db: apsw.Connection, known: Mapping[str, Any]) -> bool:
    """Whether all messages are there that were; others may have come since."""
    values = {"id": known["session"]["id"], "last": known["last"] or 0}
    return bool(db.execute(WHOLE, values).get == known["messages"])


def _insert(db: Writer, table: str, row: Mapping[str, Any]) -> None:
    """Store a row unless it is there."""
    names = ", ".join(map(quoted, row))
    marks = ", ".join("?" * len(row))
    db.change(
        f"INSERT INTO {quoted(table)} ({names}) VALUES ({marks}) ON CONFLICT DO NOTHING",
        tuple(row.values()),
    )
