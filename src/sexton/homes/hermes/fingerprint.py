"""Is this a Hermes database, and which of its columns are there?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import apsw

from sexton.errors import HomeUnknown
from sexton.homes.hermes.sql_tokens import lower, tokens

KNOWN_VERSIONS = range(1, 31)

TABLES = """
    SELECT name FROM sqlite_schema
    WHERE type = 'table' AND name IN ('schema_version', 'sessions', 'messages')"""

READ = (
    "schema_version",
    "sessions",
    "messages",
    "session_model_usage",
    "gateway_routing",
    "compression_locks",
    "async_delegations",
    "session_turn_leases",
    "gateway_heartbeats",
    "telegram_dm_topic_bindings",
)
"""The tables that Sexton reads."""
DEFINED = f"""
    SELECT name, substr(CAST(sql AS BLOB), 1, 65536) FROM sqlite_schema
    WHERE lower(name) IN ({", ".join(f"'{name}'" for name in READ)})"""
_ROW_NUMBERS = frozenset({"rowid", "oid", "_rowid_"})
_GENERATED = (2, 3)

NEEDED: Mapping[str, frozenset[str]] = {
    "sessions": frozenset({"id", "source", "started_at", "ended_at"}),
    "messages": frozenset({"id", "session_id", "role", "content", "timestamp"}),
}

_EMPTY = (
    "There is nothing in it: start Hermes once, so that it makes its tables, or restore a backup."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The schema version and the columns of the tables we read; usage is empty in old homes."""

    version: int
    sessions: frozenset[str]
    messages: frozenset[str]
    usage: frozenset[str]


def recognise(db: apsw.Connection, where: object) -> Shape:
    """The shape of a Hermes database, or HomeUnknown with what was found instead."""
    tables = {name for (name,) in db.execute(TABLES)}
    shape = Shape(
        version=_version(db, where, tables),
        sessions=_columns(db, "sessions"),
        messages=_columns(db, "messages"),
        usage=_columns(db, "session_model_usage"),
    )
    missing = _missing(shape)
    if missing:
        raise HomeUnknown(f"{where}: schema version {shape.version} without {', '.join(missing)}")
    if shape.version not in KNOWN_VERSIONS:
        raise HomeUnknown(
            f"{where}: Hermes schema version {shape.version}; "
            f"known are {KNOWN_VERSIONS[0]} to {KNOWN_VERSIONS[-1]}"
        )
    return shape


def _refuse_computed(db: apsw.Connection, where: object) -> None:
    """HomeUnknown if a table that Sexton reads would be computed rather than read.

    A view, a virtual table or a generated column can cost any amount of time and memory.
    """
    rows: list[Any] = db.execute(DEFINED).fetchall()
    for name, sql in rows:
        words = tokens((sql or b"").decode("utf-8", "replace"))
        if words[:2] != ("create", "table"):
            raise HomeUnknown(f"{where}: {name} is not a table")
        columns: list[Any] = db.execute(f"PRAGMA table_xinfo({lower(name)})").fetchall()
        if any(column[6] in _GENERATED for column in columns):
            raise HomeUnknown(f"{where}: the table {name} has generated columns")
        numbered = _ROW_NUMBERS.isdisjoint(lower(str(column[1])) for column in columns)
        if words[-2:] == ("without", "rowid") or not numbered:
            raise HomeUnknown(f"{where}: the table {name} has no row numbers")


def _version(db: apsw.Connection, where: object, tables: set[str]) -> int:
    absent = sorted({"schema_version", *NEEDED} - tables)
    if absent:
        words = f"{where} is not a Hermes database: it has no table {', '.join(absent)}"
        raise HomeUnknown(words, hint=None if tables else _EMPTY)
    encoding = db.pragma("encoding")
    if encoding != "UTF-8":
        raise HomeUnknown(f"{where}: text is stored as {encoding}, not as UTF-8")
    _refuse_computed(db, where)
    version = db.execute("SELECT CAST(MAX(version) AS INTEGER) FROM schema_version").get
    if not isinstance(version, int):
        raise HomeUnknown(f"{where}: the table schema_version is empty")
    return version


def _columns(db: apsw.Connection, table: str) -> frozenset[str]:
    return frozenset(row[1] for row in db.execute(f"PRAGMA table_info({table})"))


def _missing(shape: Shape) -> list[str]:
    found = {"sessions": shape.sessions, "messages": shape.messages}
    return [
        f"{table}.{column}"
        for table, columns in NEEDED.items()
        for column in sorted(columns - found[table])
    ]
