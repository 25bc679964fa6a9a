"""Brings a ledger to the current schema, once, however many processes open it together.

A released migration never changes, since ledgers have it behind them: a later change of the schema
is a file with the next number, and a change of a released file fails a test of `tests/migration`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from sexton.errors import LedgerOutdated, LedgerTooNew
from sexton.store.statements import statements

if TYPE_CHECKING:
    import apsw
    import psycopg

OLDEST_READER = 1
"""The oldest schema version whose code may still use a ledger of the current version.

Raise it with a migration that older code would misread, or write wrongly.
"""

FOLDER = os.path.dirname(__file__)
"""Where the numbered files are, in one folder per engine."""

_POSTGRES_LOCK = 0x53455854


def latest(dialect: str) -> int:
    """The schema version this code brings; the names of the files tell, none is read."""
    return max(version for version, _ in _files(dialect))


def migrate_sqlite(connection: apsw.Connection, application_id: int) -> None:
    """Bring a file to the current schema; processes that open a fresh one together queue here."""
    if _is_current(connection):
        return  # an asking command needs no write lock, and no free byte
    connection.execute("BEGIN IMMEDIATE")
    try:
        found = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'ledger'").fetchall()

        def run(text: str, **values: Any) -> list[tuple[Any, ...]]:
            return connection.execute(text, values or None).fetchall()

        if _bring_up_to_date("sqlite", bool(found), run):
            connection.execute(f"PRAGMA application_id = {application_id}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _is_current(connection: apsw.Connection) -> bool:
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'ledger'").fetchall():
        return False
    row = connection.execute(statements("sqlite")["ledger_row"]).fetchall()[0]
    return bool(row[1] == latest("sqlite"))


def has_ledger(connection: psycopg.Connection[Any]) -> bool:
    """Whether the database holds a ledger."""
    row = connection.execute("SELECT to_regclass('sexton.ledger')").fetchone()
    return row is not None and row[0] is not None


def _version(connection: psycopg.Connection[Any]) -> int:
    row = connection.execute(statements("postgres")["ledger_row"]).fetchone()
    return 0 if row is None else int(row[1])


def migrate_postgres(connection: psycopg.Connection[Any], *, upgrade: bool) -> None:
    """Bring a database to the current schema: an empty one always, an older one only if told to."""
    if has_ledger(connection) and _version(connection) == latest("postgres"):
        return  # needs no right to change the schema
    with connection.transaction():
        # Transaction-level: held by nobody after this block, whatever happens to us.
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_POSTGRES_LOCK,))
        connection.execute("CREATE SCHEMA IF NOT EXISTS sexton")
        found = has_ledger(connection)

        def run(text: str, **values: Any) -> list[tuple[Any, ...]]:
            cursor = connection.execute(text, values or None)
            return cursor.fetchall() if cursor.description else []

        if found and not upgrade:
            _refuse_outdated(run(statements("postgres")["ledger_row"])[0][1])
        _bring_up_to_date("postgres", found, run)


def _refuse_outdated(version: int) -> None:
    if version < latest("postgres"):
        raise LedgerOutdated(
            f"the ledger has schema {version}, this Sexton brings {latest('postgres')}"
        )


def _bring_up_to_date(
    dialect: str, exists: bool, run: Callable[..., list[tuple[Any, ...]]]
) -> bool:
    """Apply what is missing; whether anything was."""
    named = statements(dialect)
    version = 0
    if exists:
        _, version, oldest_reader = run(named["ledger_row"])[0]
        if version > latest(dialect) and oldest_reader > latest(dialect):
            raise LedgerTooNew(
                f"the ledger has schema {version}, this Sexton knows {latest(dialect)}"
            )
    missing = [(number, path) for number, path in _files(dialect) if number > version]
    for _, path in missing:
        with open(path, encoding="utf-8") as file:
            run(file.read())
    if missing:
        versions = {"version": missing[-1][0], "oldest_reader": OLDEST_READER}
        if exists:
            run(named["update_ledger_row"], **versions)
        else:
            names = {"id": os.urandom(16).hex(), "key": os.urandom(32).hex()}
            run(named["insert_ledger_row"], **names, **versions)
    return bool(missing)


def _files(dialect: str) -> Iterator[tuple[int, str]]:
    """The version that each file brings, and where it is."""
    folder = os.path.join(FOLDER, dialect)
    for name in sorted(os.listdir(folder)):
        if name.endswith(".sql"):
            yield int(name.partition("_")[0]), os.path.join(folder, name)
