"""Opens a ledger: which engine its URL names, and which of its parts are loaded late."""

from __future__ import annotations

import os
import re
from typing import Any

from sexton.errors import ExtraMissing, LedgerError, LedgerMissing
from sexton.liveness.registered_workers import RegisteredWorkers
from sexton.rules.store import PolicyStore
from sexton.sessions.message_store import LedgerMessages
from sexton.sessions.store import LedgerSessions
from sexton.store.database import HIDDEN, Database
from sexton.store.journal import Journal
from sexton.store.ledger import Ledger
from sexton.store.sqlite import SqliteDatabase

POSTGRES_SCHEMES = ("postgresql", "postgres")
_KEYWORDS = r"(^|\s)(host|hostaddr|port|dbname|user|password)\s*="


def open_ledger(url: str, *, create: bool = True, patience: float | None = None) -> Ledger:
    """Open the ledger that `sqlite:///path`, a bare path or `postgresql://...` names."""
    database = open_database(url, create=create, patience=patience)
    row = database.read(lambda tx: tx.one("ledger_row"))
    assert row is not None
    return Ledger(
        id=row[0],
        schema=row[1],
        url=masked(url),
        is_shared=database.dialect == "postgres",
        plan_key=lambda: _plan_key(database),
        book=LedgerSessions(database),
        messages=LedgerMessages(database),
        index=_late("sessions.index", "LedgerIndex", database),
        workers=RegisteredWorkers(database),
        journal=Journal(database),
        policies=PolicyStore(database),
        homes=_late("homes.store", "LedgerHomes", database),
        reaping=_late("liveness.store", "LedgerReaping", database),
        samples=_late("liveness.store", "LedgerSamples", database),
        finalizing=_late("finalizers.store", "LedgerFinalizing", database),
        backfill=_late("finalizers.store", "LedgerBackfill", database),
        dues=_late("finalizers.store", "LedgerDues", database),
        compression=_late("sessions.compression_store", "LedgerCompression", database),
        outbox=_late("notifications.store", "LedgerOutbox", database),
        registry=_late("processes.store", "LedgerProcesses", database),
        spending=_late("spending.store", "LedgerSpending", database),
        removal=_late("retention.store", "LedgerRemoval", database),
        vault=_late("retention.vault_book", "LedgerVaultBook", database),
        removable=_late("retention.removable", "LedgerRemovable", database),
        retained=_late("retention.retained_sessions", "LedgerRetained", database),
        hygiene=_late("store.hygiene", "Hygiene", database),
        board=_late("sessions.board", "LedgerBoard", database),
        gauges=_late("keeper.gauges", "LedgerGauges", database),
        close=database.close,
    )


def _plan_key(database: Database) -> bytes:
    row = database.read(lambda tx: tx.one("plan_key"))
    assert row is not None
    return bytes.fromhex(row[0])


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
    if _looks_like_postgres(url):
        raise LedgerError(
            "the ledger's address is not understood",
            hint="Write postgresql://user@host/database; a plain path is a file.",
        )
    path = sqlite_path(url)
    if not create and not os.path.lexists(path):
        raise LedgerMissing(f"there is no ledger at {path} yet")
    return SqliteDatabase(path, patience)


def sqlite_path(url: str) -> str:
    """The file that a `sqlite:///path` URL or a bare path means."""
    text = url
    if url.startswith("sqlite:"):
        # Three slashes and a name are relative, as elsewhere; four are absolute.
        text = _unquoted(url[len("sqlite:///") :]) if url.startswith("sqlite:///") else ""
        if not text:
            raise LedgerError("the URL names no file", hint="Write sqlite:///path/to/ledger.db.")
    if not text or text == ":memory:":
        raise LedgerError("a ledger needs a file", hint="Name a path; a ledger is there to last.")
    if "\0" in text or not _is_encodable(text):
        raise LedgerError("no file can have the ledger's name", hint="Name another path.")
    path = os.path.expanduser(text)
    if path.startswith("~"):
        raise LedgerError(f"the ledger {text} can not be found: nobody's home is known by that")
    return path


def _is_encodable(path: str) -> bool:
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True


def _unquoted(text: str) -> str:
    if "%" not in text:
        return text
    from urllib.parse import unquote  # noqa: PLC0415  # slow to load, and seldom needed

    return unquote(text)


def _looks_like_postgres(url: str) -> bool:
    """An address that is no URL; as a file name it would only be a mistake, and show a password."""
    return url.startswith(("postgres:", "postgresql:")) or bool(re.search(_KEYWORDS, url))


def masked(url: str) -> str:
    """The URL without its password, for people and logs."""
    if url.partition("://")[0] not in POSTGRES_SCHEMES:
        return url
    from urllib.parse import urlsplit  # noqa: PLC0415  # slow to load, and a file has no password

    try:
        parts = urlsplit(url)
    except ValueError:  # its message would quote the password
        return HIDDEN
    _, sign, place = parts.netloc.rpartition("@")
    # A sign anywhere else may come from a password that was not percent-encoded.
    return f"postgresql://{place}{parts.path}" if url.count("@") == len(sign) else HIDDEN


def _open_postgres(url: str, *, create: bool, upgrade: bool, patience: float | None) -> Database:
    try:
        from sexton.store.postgres import PostgresDatabase  # noqa: PLC0415  # an extra
    except ImportError:
        raise ExtraMissing(
            "a PostgreSQL ledger needs psycopg",
            hint="Install it with: pip install 'sexton[postgres]'",
        ) from None
    return PostgresDatabase(url, masked(url), create=create, upgrade=upgrade, deadline=patience)


class _Late:
    """Stands for a part of the ledger until somebody asks it for something."""

    def __init__(self, module: str, name: str, database: Database) -> None:
        self._module = module
        self._name = name
        self._database = database

    def __getattr__(self, asked: str) -> Any:
        # The function of `importlib` would load a module of its own, and `warnings` with it.
        module = __import__(f"sexton.{self._module}", fromlist=[self._name])
        part = getattr(module, self._name)(self._database)
        # Once found here, it is not looked for again.
        self.__dict__.update({name: getattr(part, name) for name in dir(part) if name[0] != "_"})
        return getattr(part, asked)


def _late(module: str, name: str, database: Database) -> Any:
    """A part of the ledger, loaded when it is first used."""
    return _Late(module, name, database)
