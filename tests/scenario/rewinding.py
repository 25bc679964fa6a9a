"""Sets a ledger back to an earlier state under its living users, on either engine."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import apsw
import psycopg
from psycopg import sql

from sexton.errors import LedgerBusy, LedgerUnreachable
from sexton.settings.settings_values import Settings
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from tests.kit.postgres_server import PostgresServer

T = TypeVar("T")

TRIES, PAUSE = 6000, 0.01
OTHERS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = %s AND pid <> pg_backend_pid()
"""


class Rewind(ABC):
    """One ledger, a backup of it, and the way back."""

    url: str

    @abstractmethod
    def back_up(self) -> None:
        """Keep the ledger as it is now."""

    @abstractmethod
    def restore(self) -> None:
        """Put it back as it was kept."""


class SqliteRewind(Rewind):
    """A file that is overwritten in place: nobody finds another one under its name."""

    def __init__(self, path: Path) -> None:
        self.url = f"sqlite:///{path}"
        self._path = str(path)
        self._backup = str(path.with_suffix(".backup"))

    def back_up(self) -> None:
        _copy(self._path, self._backup)

    def restore(self) -> None:
        _copy(self._backup, self._path)


class PostgresRewind(Rewind):
    """A database that is dropped and made again from a copy, cutting all connections."""

    def __init__(self, server: PostgresServer, name: str) -> None:
        self.url = server.url(name)
        self._name, self._backup = name, f"{name}_backup"
        self._admin = server.url()
        self._make(name, "template0")

    def back_up(self) -> None:
        self._close(self._name)
        self._make(self._backup, self._name)
        self._tell("ALTER DATABASE {} ALLOW_CONNECTIONS true", self._name)

    def restore(self) -> None:
        self._close(self._name)
        self._tell("DROP DATABASE {}", self._name)
        self._make(self._name, self._backup)

    def drop(self) -> None:
        """Remove both."""
        for name in (self._name, self._backup):
            self._tell("DROP DATABASE IF EXISTS {} WITH (FORCE)", name)

    def _make(self, name: str, template: str) -> None:
        self._tell("CREATE DATABASE {} TEMPLATE {}", name, template)

    def _close(self, name: str) -> None:
        """Let nobody in, and end who is there."""
        self._tell("ALTER DATABASE {} ALLOW_CONNECTIONS false", name)
        with psycopg.connect(self._admin, autocommit=True) as connection:
            for _ in range(TRIES):
                if not connection.execute(OTHERS, [name]).fetchall():
                    return
                time.sleep(PAUSE)
        raise AssertionError(f"somebody is still connected to {name}")

    def _tell(self, statement: str, *names: str) -> None:
        with psycopg.connect(self._admin, autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def opened_at(rewind: Rewind, clock: ManualClock) -> Sexton:
    """The ledger as one of its users has it open."""
    return Sexton(open_ledger(rewind.url), Settings(), clock=clock)


def reached(house: Sexton) -> None:
    """Replace the connections that were cut: what follows fails for reasons of its own."""
    once_reached(house.ledger.workers.all)


def once_reached(job: Callable[[], T]) -> T:
    """What comes of a job once its cut connections are replaced; on a cut one nothing is done."""
    for _ in range(TRIES):
        try:
            return job()
        except (LedgerUnreachable, LedgerBusy):
            time.sleep(PAUSE)
    raise AssertionError("the ledger is not reached any more")


def _copy(source: str, target: str) -> None:
    with closing(apsw.Connection(source)) as old, closing(apsw.Connection(target)) as new:
        new.set_busy_timeout(240_000)
        with new.backup("main", old, "main") as backup:
            for _ in range(TRIES):
                if backup.done:
                    return
                try:
                    backup.step()
                except apsw.BusyError:
                    time.sleep(PAUSE)
    raise AssertionError(f"{target} could not be written")
