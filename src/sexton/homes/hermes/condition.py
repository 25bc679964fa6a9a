"""In which condition is a Hermes home? Facts for a diagnosis, read without changing anything."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from sexton.core.machine_ports import Clock, ProcessTable
from sexton.core.record import made, record
from sexton.homes.hermes.facts import line_of, name_of
from sexton.homes.hermes.fingerprint import Shape, recognise
from sexton.homes.hermes.folder import FileSeen, files_in
from sexton.homes.hermes.hermes_database import read, signature
from sexton.homes.hermes.hermes_places import DATABASE
from sexton.homes.hermes.routing import Route, routes_in, routes_of_mirror
from sexton.homes.hermes.running import (
    Background,
    Begun,
    background_processes,
    gateway_pid,
    runs_by,
)
from sexton.homes.hermes.session_files import HermesFileNames

TRIVIAL = 5
EXAMPLES = 3

# Counted as far as it matters: a long conversation is not walked through.
SMALL = f"""
    SELECT COUNT(*) FILTER (WHERE n = 0), COUNT(*) FILTER (WHERE n <= {TRIVIAL}),
           COUNT(*) FILTER (WHERE n <= {TRIVIAL} AND ended)
    FROM (SELECT s.ended_at IS NOT NULL AS ended,
                 (SELECT COUNT(*) FROM (SELECT 1 FROM messages AS m
                  WHERE m.session_id = s.id LIMIT {TRIVIAL + 1})) AS n
          FROM sessions AS s)"""
FAILED = """
    SELECT CAST(id AS BLOB), CAST(compression_failure_error AS BLOB),
           CAST(compression_fallback_streak AS INTEGER)
    FROM sessions
    WHERE ended_at IS NULL
      AND (compression_failure_error IS NOT NULL OR compression_fallback_streak > 0)"""
ROUTED = "SELECT CAST(entry_json AS BLOB) FROM gateway_routing"
STATES = """
    SELECT CAST(s.id AS BLOB), s.ended_at IS NOT NULL, CAST(s.source AS BLOB)
    FROM json_each(:ids) AS j CROSS JOIN sessions AS s ON s.id = j.value"""
EVERY_STATE = "SELECT CAST(id AS BLOB), ended_at IS NOT NULL, CAST(source AS BLOB) FROM sessions"
ROUTING = "PRAGMA table_info(gateway_routing)"


class Machine(NamedTuple):
    """What is asked about processes: is it still that one, and when did it start."""

    processes: ProcessTable
    begun_at: Begun


class Small(NamedTuple):
    """How many sessions are empty, how many trivial (the empty among them), and of those ended."""

    empty: int = 0
    trivial: int = 0
    ended: int = 0


class Compression(NamedTuple):
    """A session whose last compressions failed."""

    session: str
    error: str | None
    streak: int


class State(NamedTuple):
    """Whether the session with a name in files has ended, where it came from, and its id."""

    ended: bool
    source: str
    id: str = ""


@record
class Storage:
    """The database as a file: who wrote it last, how big it is, how much of it is unused."""

    schema: int = 0
    version: tuple[int, int, int] = (0, 0, 0)
    is_wal: bool = True
    bytes: int = 0
    wal_bytes: int = 0
    free_bytes: int = 0


@record
class Condition:
    """All that is to be known of a home at one moment."""

    now: datetime
    storage: Storage = made(Storage)
    small: Small = Small()
    compressions: tuple[Compression, ...] = ()
    routes: tuple[Route, ...] = ()
    ended: frozenset[str] = frozenset()
    files: tuple[FileSeen, ...] = ()
    owners: Mapping[str, State] = made(dict)
    processes: tuple[Background, ...] = ()
    gateway: int | None = None
    linked: Path | None = None
    """Where the folder of the files leads, if it is a link: it is not followed."""


class _Rows(NamedTuple):
    """What one look into the database showed."""

    storage: Storage
    small: Small
    compressions: tuple[Compression, ...]
    entries: list[Any] | None
    states: dict[str, State]
    owners: dict[str, State]


def condition_of(
    home: Path,
    clock: Clock,
    machine: Machine,
    zone: str,
    files: tuple[FileSeen, ...] | None = None,
) -> Condition:
    """Look at everything once; the database in one short transaction.

    `files` are those of the home if the caller has listed them already.
    """
    database = (home / DATABASE).resolve()
    names = HermesFileNames()
    folder = home / "sessions"
    if files is None:
        files = tuple(files_in(folder, names))
    owners = sorted({each.owner for each in files if each.owner is not None})
    rows = read(database, lambda db: _rows(db, database, owners, names))
    stamps = signature(database)
    routes = (
        routes_of_mirror(folder / "sessions.json", zone)
        if rows.entries is None
        else routes_in(rows.entries, zone)
    )
    file = home / "processes.json"
    return Condition(
        now=clock.now(),
        storage=Storage(
            schema=rows.storage.schema,
            version=rows.storage.version,
            is_wal=rows.storage.is_wal,
            bytes=stamps.database[1],
            wal_bytes=stamps.wal[1] if stamps.wal else 0,
            free_bytes=rows.storage.free_bytes,
        ),
        small=rows.small,
        compressions=rows.compressions,
        routes=tuple(routes),
        ended=frozenset(id for id, state in rows.states.items() if state.ended),
        files=files,
        owners=rows.owners,
        processes=tuple(background_processes(file, runs_by(machine.processes), machine.begun_at)),
        gateway=gateway_pid(home / "gateway.pid", machine.processes),
        linked=folder.resolve() if folder.is_symlink() else None,
    )


def _rows(db: apsw.Connection, where: object, owners: list[str], names: HermesFileNames) -> _Rows:
    shape = recognise(db, where)
    entries = None
    if any(column[1] == "entry_json" for column in db.execute(ROUTING)):
        entries = [json_of(text) for (text,) in db.execute(ROUTED)]
    routed = [each.get("session_id") for each in entries or () if isinstance(each, dict)]
    return _Rows(
        storage=_storage(db, shape),
        small=_small(db),
        compressions=tuple(_compressions(db, shape)),
        entries=entries,
        states=_states(db, {id for id in routed if isinstance(id, str)}),
        owners=_owners(db, owners, names),
    )


def _small(db: apsw.Connection) -> Small:
    rows: list[Any] = db.execute(SMALL).fetchall()
    return Small(*rows[0])


def _storage(db: apsw.Connection, shape: Shape) -> Storage:
    _, header = db.read("main", 0, 0, 100)
    written_by = int.from_bytes(header[96:100], "big")
    major, rest = divmod(written_by, 1_000_000)
    return Storage(
        schema=shape.version,
        version=(major, *divmod(rest, 1000)),
        is_wal=header[18] == 2,
        free_bytes=int(db.pragma("freelist_count")) * int(db.pragma("page_size")),
    )


def _compressions(db: apsw.Connection, shape: Shape) -> list[Compression]:
    needed = {"compression_failure_error", "compression_fallback_streak"}
    if not needed <= shape.sessions:
        return []
    return [
        Compression(name_of(id) or "?", line_of(error), int(streak or 0))
        for id, error, streak in db.execute(FAILED)
    ]


def _states(db: apsw.Connection, ids: Iterable[str]) -> dict[str, State]:
    return _by_id(db.execute(STATES, {"ids": json.dumps(sorted(ids))}))


def _owners(db: apsw.Connection, owners: list[str], names: HermesFileNames) -> dict[str, State]:
    """The sessions behind the names in files; most names are ids, the others are made from ids."""
    found = _states(db, owners)
    if len(found) < len(owners):
        made_up = {names.owner(id): state for id, state in _by_id(db.execute(EVERY_STATE)).items()}
        found |= {owner: made_up[owner] for owner in owners if owner in made_up}
    return found


def _by_id(rows: Iterable[tuple[Any, ...]]) -> dict[str, State]:
    named = ((name_of(id), bool(ended), line_of(source)) for id, ended, source in rows)
    return {id: State(ended, source or "unknown", id) for id, ended, source in named if id}


def json_of(text: object) -> Any:
    """What a stored JSON text says; None if it says nothing."""
    try:
        return json.loads(text) if isinstance(text, bytes) else None
    except (ValueError, RecursionError):
        return None
