"""A child that is forked inside a call to PostgreSQL leaves the connection of its parent alone."""

from __future__ import annotations

import os
from contextlib import closing
from typing import Any

import pytest

from sexton.store.opening import open_database
from sexton.store.postgres import PostgresDatabase
from tests.children import exit_code


class Left(Exception):
    """What the child raises out of the call that it was forked in."""


class Forks:
    """A job that forks once; its parent waits for the child to end, and goes on."""

    def __init__(self, then: str) -> None:
        self._then = then
        self.child: int | None = None
        self.seen: list[Any] = []

    def __call__(self, tx: Any) -> list[Any]:
        ask = "SELECT pg_backend_pid(), CAST(pg_current_xact_id() AS TEXT)"
        self.seen.append(tx._connection.execute(ask).fetchone())
        if self.child is None:
            self.child = os.fork()
            if self.child:
                assert exit_code(self.child) == 0
            elif self._then == "raises":
                raise Left
        self.seen.append(tx._connection.execute(ask).fetchone())
        return self.seen


def own_call(database: PostgresDatabase, job: Forks) -> int:
    """What the child says of a call of its own: 0 if it has a connection of its own for it."""
    try:
        *_, before, after = database.write(job)
    except Exception:  # noqa: BLE001  # a child must not go on as a test
        return 2
    return 0 if before == after and before[0] != job.seen[0][0] else 1


@pytest.mark.parametrize("then", ["goes on", "raises"])
def test_a_child_forked_inside_a_call_leaves_the_transaction_of_its_parent_alone(
    postgres_url: str, then: str
) -> None:
    here = os.getpid()
    with closing(open_database(postgres_url)) as database:
        assert isinstance(database, PostgresDatabase)
        job = Forks(then)
        try:
            before, after = database.write(job)[-2:]
        except Left:
            assert os.getpid() != here
        finally:
            if os.getpid() != here:
                os._exit(own_call(database, job))
        assert before == after == job.seen[0]
        assert database.write(job)[-1][0] == before[0], "the connection is lent again"
