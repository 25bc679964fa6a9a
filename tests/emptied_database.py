"""One PostgreSQL ledger for many tests: emptying it is cheaper than making and dropping one."""

from __future__ import annotations

import time
from itertools import count
from uuid import uuid4

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from sexton.store.opening import open_ledger
from tests.kit.postgres_server import PostgresServer

# What a new ledger has is kept in a schema of its own. A table that has grown is cut, which takes
# longer than to delete a few rows, but leaves nothing to be read over.
FRESH = """
CREATE SCHEMA fresh;
DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'sexton' LOOP
        EXECUTE format('CREATE TABLE fresh.%1$I AS TABLE sexton.%1$I', name);
    END LOOP;
END $$;
CREATE FUNCTION fresh.again() RETURNS void LANGUAGE plpgsql AS $$ DECLARE name text; BEGIN
    PERFORM set_config('session_replication_role', 'replica', true);  -- no trigger runs
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'sexton' LOOP
        IF pg_total_relation_size(format('sexton.%I', name)) > 1 << 18 THEN
            EXECUTE format('TRUNCATE sexton.%I CASCADE', name);
        ELSE
            EXECUTE format('DELETE FROM sexton.%I', name);
        END IF;
    END LOOP;
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'fresh' LOOP
        EXECUTE format('INSERT INTO sexton.%1$I OVERRIDING SYSTEM VALUE TABLE fresh.%1$I', name);
    END LOOP;
    FOR name IN SELECT sequencename FROM pg_sequences WHERE schemaname = 'sexton' LOOP
        EXECUTE format('ALTER SEQUENCE sexton.%I RESTART', name);
    END LOOP;
END $$;
"""
OTHERS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = %s AND pid <> pg_backend_pid()
"""
PATIENCE, PAUSE = 240.0, 0.005


class EmptiedDatabase:
    """A ledger that is given out again and again, as if it were new each time.

    Each time it has another name and another id: whoever still has the last one's address reaches
    nobody.
    """

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self._names = count()
        url = server.create_database()
        self._name = str(conninfo_to_dict(url)["dbname"])
        open_ledger(url).close()
        with psycopg.connect(url) as connection:
            connection.execute(FRESH)

    def fresh(self) -> str:
        """The address of a ledger with nothing in it."""
        before, name = self._name, f"emptied_{next(self._names)}"
        with psycopg.connect(self._server.url(), autocommit=True) as connection:
            # Nobody comes back between the end of the last connection and the new name.
            _tell(connection, "ALTER DATABASE {} ALLOW_CONNECTIONS false", before)
            _end_others(connection, before)
            _tell(connection, "ALTER DATABASE {} RENAME TO {}", before, name)
            _tell(connection, "ALTER DATABASE {} ALLOW_CONNECTIONS true", name)
        self._name = name
        url = self._server.url(self._name)
        with psycopg.connect(url) as connection:
            connection.execute("SELECT fresh.again()")
            # What is kept beside a ledger is named by its id.
            connection.execute("UPDATE sexton.ledger SET id = %s", [uuid4().hex])
        return url


def _end_others(connection: psycopg.Connection, database: str) -> None:
    """Not by the server's own waiting: it asks for numbers that other processes may have by now."""
    until = time.monotonic() + PATIENCE
    while connection.execute(OTHERS, [database]).fetchall():
        assert time.monotonic() < until, f"somebody is still connected to {database}"
        time.sleep(PAUSE)


def _tell(connection: psycopg.Connection, statement: str, *names: str) -> None:
    connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))
