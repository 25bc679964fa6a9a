"""A ledger on a server that is away: how long its calls wait is shortened only meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sexton.sessions.message_store import LedgerMessages
from sexton.store.ledger import Ledger
from sexton.store.postgres import PostgresDatabase


@contextmanager
def impatient(opened: Ledger | PostgresDatabase, seconds: float) -> Iterator[None]:
    """Let calls be given up after so many seconds; those that work have all the time they need."""
    database = opened if isinstance(opened, PostgresDatabase) else postgres_of(opened)
    usual = database._deadline
    database._deadline = database._pool._deadline = seconds
    try:
        yield
    finally:
        database._deadline = database._pool._deadline = usual


def postgres_of(ledger: Ledger) -> PostgresDatabase:
    """The database on a server that a ledger is in."""
    assert isinstance(ledger.messages, LedgerMessages)
    database = ledger.messages._database
    assert isinstance(database, PostgresDatabase)
    return database
