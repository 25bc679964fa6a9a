"""Workers, journal and policies: what the ledger keeps about its users."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from sexton.core.plan import JournalEntry, Reason
from sexton.core.session import Session
from sexton.errors import LedgerBusy
from sexton.liveness.model import Worker
from sexton.rules.rulebook import owings
from sexton.store import rows
from sexton.store.database import Database, Transaction
from sexton.store.journal import Entry, LastSweep, StoredPolicies
from sexton.store.rows import micros, moment

ATTEMPTS = 100
KEEP_WORKERS = timedelta(days=7)
_END_OF_TIME = 2**62


class LedgerWorkers:
    """Implements `ports.Workers`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def register(self, worker: Worker) -> None:
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
        row = self._database.read(lambda tx: tx.one("find_beat", worker=worker))
        return None if row is None else int(row[0])

    def busy(self, worker: str) -> dict[int, int]:
        return dict(self._database.read(lambda tx: tx.all("busy_sessions", worker=worker)))

    def recount(self, worker: str, session: int, seen: int, running: int) -> None:
        place = {"worker": worker, "ref": session}
        self._database.statement("recount_turns", **place, seen=seen, running=running)

    def swept(self, worker: str, now: datetime, every: timedelta) -> None:
        pace = every // timedelta(microseconds=1)
        self._database.statement("worker_swept", worker=worker, now=micros(now), every=pace)

    def last_sweep(self) -> LastSweep | None:
        row = self._database.read(lambda tx: tx.one("last_sweep"))
        return LastSweep(moment(row[0]), timedelta(microseconds=row[1])) if row else None

    def all(self) -> list[Worker]:
        return [rows.worker(row) for row in self._database.read(lambda tx: tx.all("all_workers"))]


class LedgerJournal:
    """Implements `ports.Journal`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def write(self, entries: Iterable[Entry], now: datetime) -> None:
        values = [rows.entry(entry, now) for entry in entries]
        if values:
            self._database.write(lambda tx: tx.many("insert_entry", values))

    def page(
        self, session: Session | None, receipt: str | None, before: int | None, limit: int
    ) -> list[JournalEntry]:
        place = {"before": _END_OF_TIME if before is None else before, "limit": limit}

        def job(tx: Transaction) -> list[rows.Row]:
            if receipt is not None:
                return tx.all("page_journal_of_receipt", receipt=receipt, **place)
            if session is not None:
                named = {"home": session.home, "session": session.id}
                return tx.all("page_journal_of_session", **named, **place)
            return tx.all("page_journal", **place)

        return [rows.journal_entry(row) for row in self._database.read(job)]


class LedgerPolicies:
    """Implements `ports.PolicyStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def in_force(self) -> StoredPolicies | None:
        row = self._database.read(lambda tx: tx.one("policies_in_force"))
        return None if row is None else StoredPolicies(*row)

    def publish(self, digest: str, text: str, actor: str, now: datetime) -> StoredPolicies:
        def job(tx: Transaction) -> StoredPolicies | None:
            before = tx.one("policies_in_force")
            if before is not None and before[1] == digest:
                return StoredPolicies(*before)
            published = tx.one(
                "publish_policies", digest=digest, text=text, actor=actor, now=micros(now)
            )
            if published is None:  # somebody published at the same moment
                return None
            tx.all("clear_owing")
            tx.many("insert_owing", [row for owing in owings(text) for row in owing.rows()])
            tx.all("insert_entry", **rows.entry(_published(before, digest, actor), now))
            return StoredPolicies(published[0], digest, text)

        for _ in range(ATTEMPTS):
            stored = self._database.write(job)
            if stored is not None:
                return stored
        raise LedgerBusy("others publish policies faster than these can be")


def _published(before: rows.Row | None, digest: str, actor: str) -> Entry:
    former = f"instead of {before[1][:12]}" if before else "as the first"
    reason = Reason("settings", f"policies {digest[:12]} are in force {former}")
    return Entry(actor=actor, receipt=None, action="publish", result="done", reason=reason)
