"""What the ledger needs from a database engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeVar

from sexton.store.rows import Row

T = TypeVar("T")

HIDDEN = "postgresql://..."
"""Shown for an address that can not be told apart from its password."""


class Transaction(Protocol):
    """An open transaction; statements are called by name."""

    def all(self, name: str, /, **values: Any) -> list[Row]:
        """Every row of a statement."""

    def one(self, name: str, /, **values: Any) -> Row | None:
        """The first row of a statement, if any."""

    def many(self, name: str, rows: Iterable[Mapping[str, Any]], /) -> None:
        """The same statement once for each row of values."""


class Database(Protocol):
    """An engine: runs jobs in transactions and returns only when they are durable.

    A job may be run more than once, so it changes nothing but the database.
    """

    dialect: str

    def read(self, job: Callable[[Transaction], T]) -> T:
        """Run a job that changes nothing, on one snapshot."""

    def write(self, job: Callable[[Transaction], T], *, lasting: bool = True) -> T:
        """Run a job and commit it, all or nothing.

        What need not be `lasting` survives every crash of ours, but not one of the machine.
        """

    def statement(self, name: str, /, **values: Any) -> list[Row]:
        """Run one statement as a transaction of its own."""

    def close(self) -> None:
        """Finish what is queued and let go of the database."""
