"""The workers a ledger knows: registered, at work, and when a keeper last swept."""

from __future__ import annotations

from datetime import datetime, timedelta

from sexton.core.record import record
from sexton.liveness.model import Worker
from sexton.store import rows
from sexton.store.database import Database, Transaction
from sexton.store.rows import micros, moment

KEEP_WORKERS = timedelta(days=7)
PATIENCE = timedelta(minutes=5)
MISSED = 3
"""A keeper is late once it has missed this many sweeps, but never within `PATIENCE`."""


@record(kw_only=False)
class LastSweep:
    """When a keeper last finished a sweep, and how often it sweeps."""

    at: datetime
    every: timedelta

    def is_late(self, now: datetime) -> bool:
        """Whether the keeper has missed so many sweeps that it is no longer at work."""
        return now - self.at > max(PATIENCE, MISSED * self.every)


class RegisteredWorkers:
    """The processes that hold sessions, and the keepers."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def register(self, worker: Worker) -> None:
        """Add a worker."""
        identity = worker.identity

        def job(tx: Transaction) -> None:
            tx.all("forget_workers", before=micros(worker.registered_at - KEEP_WORKERS))
            tx.all(
                "insert_worker",
                id=worker.id,
                host=identity.host,
                boot_id=identity.boot_id,
                pid=identity.pid,
                started=identity.started,
                inode=identity.inode,
                pid_namespace=identity.pid_namespace,
                uid=identity.uid,
                kind=worker.kind,
                version=worker.version,
                now=micros(worker.registered_at),
            )

        self._database.write(job)

    def beat_of(self, worker: str) -> int | None:
        """How often the worker has raised its counter; None if the ledger does not know it."""
        row = self._database.read(lambda tx: tx.one("find_beat", worker=worker))
        return None if row is None else int(row[0])

    def busy(self, worker: str) -> dict[int, int]:
        """How many turns of a worker the ledger takes to be running, by the row of the session."""
        return dict(self._database.read(lambda tx: tx.all("busy_sessions", worker=worker)))

    def recount(self, worker: str, session: int, seen: int, running: int) -> None:
        """Correct that number, unless it has changed since it was seen."""
        place = {"worker": worker, "ref": session}
        self._database.statement("recount_turns", **place, seen=seen, running=running)

    def swept(self, worker: str, now: datetime, every: timedelta) -> None:
        """Record a keeper's finished sweep, and when the next one is to be expected."""
        pace = every // timedelta(microseconds=1)
        self._database.statement("worker_swept", worker=worker, now=micros(now), every=pace)

    def last_sweep(self) -> LastSweep | None:
        """When any keeper last finished a sweep."""
        row = self._database.read(lambda tx: tx.one("last_sweep"))
        return LastSweep(moment(row[0]), timedelta(microseconds=row[1])) if row else None

    def all(self) -> list[Worker]:
        """Every worker that has not left."""
        return [rows.worker(row) for row in self._database.read(lambda tx: tx.all("all_workers"))]
