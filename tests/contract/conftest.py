"""A fresh ledger on each engine."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql

from sexton.ledger.opening import open_ledger
from sexton.ports import Ledger
from sexton.testing.postgres import PostgresServer

LARGE = 1 << 20
TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'sexton'"
SEQUENCES = "SELECT sequencename FROM pg_sequences WHERE schemaname = 'sexton'"


class EmptiedDatabase:
    """One PostgreSQL ledger for all tests of a process: emptying is cheaper than a new one."""

    def __init__(self, url: str) -> None:
        self.url = url
        open_ledger(url).close()
        with psycopg.connect(url) as connection:
            self._tables = [name for (name,) in connection.execute(TABLES)]
            self._sequences = [name for (name,) in connection.execute(SEQUENCES)]
            connection.execute("CREATE SCHEMA fresh")
            for name in self._tables:
                connection.execute(_about("CREATE TABLE fresh.{} AS TABLE sexton.{}", name))

    def empty(self) -> None:
        """Leave what is in a new ledger, and nothing else."""
        with psycopg.connect(self.url) as connection:
            connection.execute("SET session_replication_role = replica")  # no trigger runs
            for name in self._tables:
                size = connection.execute("SELECT pg_relation_size(%s)", [f"sexton.{name}"])
                large = [bytes for (bytes,) in size if bytes > LARGE]
                way = "TRUNCATE sexton.{} CASCADE" if large else "DELETE FROM sexton.{}"
                connection.execute(_about(way, name))
            for name in self._tables:
                kept = "INSERT INTO sexton.{} OVERRIDING SYSTEM VALUE TABLE fresh.{}"
                connection.execute(_about(kept, name))
            for name in self._sequences:
                connection.execute(_about("ALTER SEQUENCE sexton.{} RESTART", name))


@pytest.fixture(scope="session")
def emptied_database(postgres_server: PostgresServer) -> EmptiedDatabase:
    return EmptiedDatabase(postgres_server.create_database())


@pytest.fixture(params=["sqlite", "postgres"])
def ledger(request: pytest.FixtureRequest) -> Iterator[Ledger]:
    """A fresh ledger, once per engine."""
    if request.param == "sqlite":
        url = f"sqlite:///{request.getfixturevalue('new_file')}"
    else:
        database: EmptiedDatabase = request.getfixturevalue("emptied_database")
        database.empty()
        url = database.url
    opened = open_ledger(url)
    yield opened
    opened.close()


def _about(statement: str, name: str) -> sql.Composed:
    return sql.SQL(statement).format(*[sql.Identifier(name)] * statement.count("{}"))
