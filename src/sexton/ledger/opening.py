"""Which engine does a ledger's URL name?"""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sexton.errors import ExtraMissing, LedgerError, LedgerMissing
from sexton.ledger.database import HIDDEN, Database
from sexton.ledger.homes import LedgerHomes
from sexton.ledger.index import LedgerIndex
from sexton.ledger.messages import LedgerMessages
from sexton.ledger.sessions import LedgerSessions
from sexton.ledger.sqlite import SqliteDatabase
from sexton.ledger.upkeep import LedgerJournal, LedgerPolicies, LedgerWorkers
from sexton.ports import Ledger

POSTGRES_SCHEMES = ("postgresql", "postgres")


def open_ledger(url: str, *, create: bool = True, patience: float | None = None) -> Ledger:
    """Open the ledger that `sqlite:///path`, a bare path or `postgresql://...` names."""
    database = open_database(url, create=create, patience=patience)
    row = database.read(lambda tx: tx.one("ledger_row"))
    assert row is not None
    return Ledger(
        id=row[0],
        url=masked(url),
        book=LedgerSessions(database),
        messages=LedgerMessages(database),
        index=LedgerIndex(database),
        workers=LedgerWorkers(database),
        journal=LedgerJournal(database),
        policies=LedgerPolicies(database),
        homes=LedgerHomes(database),
        close=database.close,
    )


def open_database(
    url: str, *, create: bool = True, upgrade: bool = False, patience: float | None = None
) -> Database:
    """The engine behind a URL; an older shared database is brought up to date only if told to.

    Patience is for how many seconds a call waits for a locked file or a silent server.
    """
    scheme = url.partition("://")[0] if "://" in url else ""
    if scheme in POSTGRES_SCHEMES:
        return _open_postgres(url, create=create, upgrade=upgrade, patience=patience)
    if scheme not in ("", "sqlite"):
        raise LedgerError(
            f"a ledger can not be kept in '{scheme}'",
            hint="Use sqlite:///path, a plain path, or postgresql://host/database.",
        )
    path = sqlite_path(url)
    if not create and not os.path.lexists(path):
        raise LedgerMissing(f"there is no ledger at {path} yet")
    return SqliteDatabase(path, patience)


def sqlite_path(url: str) -> Path:
    """The file that a `sqlite:///path` URL or a bare path means."""
    if url.startswith("sqlite:"):
        if not url.startswith("sqlite:///") or len(url) == len("sqlite:///"):
            raise LedgerError(f"'{url}' names no file", hint="Write sqlite:///path/to/ledger.db.")
        text = unquote(url[len("sqlite:///") :])
        # Three slashes and a name are relative, as elsewhere; four are absolute.
        return Path(text).expanduser()
    if not url:
        raise LedgerError("the ledger's path is empty")
    return Path(url).expanduser()


def masked(url: str) -> str:
    """The URL without its password, for people and logs."""
    if url.partition("://")[0] not in POSTGRES_SCHEMES:
        return url
    try:
        parts = urlsplit(url)
    except ValueError:  # its message would quote the password
        return HIDDEN
    _, sign, place = parts.netloc.rpartition("@")
    # A sign anywhere else may come from a password that was not percent-encoded.
    return f"postgresql://{place}{parts.path}" if url.count("@") == len(sign) else HIDDEN


def _open_postgres(url: str, *, create: bool, upgrade: bool, patience: float | None) -> Database:
    try:
        from sexton.ledger.postgres import PostgresDatabase  # noqa: PLC0415  # an extra
    except ImportError:
        raise ExtraMissing(
            "a PostgreSQL ledger needs psycopg",
            hint="Install it with: pip install 'sexton[postgres]'",
        ) from None
    return PostgresDatabase(url, masked(url), create=create, upgrade=upgrade, deadline=patience)
