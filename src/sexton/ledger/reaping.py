"""Workers' beats, and the end of what their death leaves behind."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sexton.ledger import rows
from sexton.ledger.database import Database, Transaction
from sexton.ledger.rows import maybe_micros, micros
from sexton.ledger.sessions import holders
from sexton.model.plan import ReapSession
from sexton.model.schedule import Schedule
from sexton.model.session import Session
from sexton.model.worker import Worker
from sexton.ports import Entry


class LedgerReaping:
    """Implements `ports.Reaping`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def beat(self, worker: str) -> bool:
        return bool(self._database.statement("beat", worker=worker))

    def suspects(self) -> list[Worker]:
        found = self._database.read(lambda tx: tx.all("all_workers") + tx.all("dead_and_holding"))
        return [rows.worker(row) for row in found]

    def sessions_of(self, worker: str) -> list[Session]:
        def job(tx: Transaction) -> list[Session]:
            found = tx.all("sessions_of_worker", worker=worker)
            return [rows.session(row, holders(tx, row[0])) for row in found]

        return self._database.read(job)

    def reap(self, reaps: Sequence[tuple[ReapSession, Entry]], now: datetime) -> list[bool]:
        def job(tx: Transaction) -> list[bool]:
            awake = _awake(tx, [action for action, _ in reaps])
            return [
                action.seen.ref not in awake and _reap(tx, action, entry, now)
                for action, entry in reaps
            ]

        return self._database.write(job)

    def declare(self, dead: Sequence[tuple[Worker, str]], now: datetime) -> int:
        def job(tx: Transaction) -> int:
            return sum(
                _declare(tx, worker.id, worker.beat, evidence, now)
                for worker, evidence in sorted(dead, key=lambda each: each[0].id)
            )

        return self._database.write(job) if dead else 0

    def release(self, held: Sequence[tuple[int, str]]) -> None:
        freed = [{"ref": ref, "worker": worker} for ref, worker in sorted(held)]
        if freed:
            self._database.write(lambda tx: tx.many("release_holder", freed))

    def revive(
        self, ref: int, worker: str, schedule: Schedule, entry: Entry, now: datetime
    ) -> Session | None:
        def job(tx: Transaction) -> Session | None:
            revived = tx.one(
                "revive_session",
                ref=ref,
                due_at=maybe_micros(schedule.at),
                serial=schedule.serial,
            )
            if revived is None:
                return None
            tx.all("add_holder", ref=ref, worker=worker, now=micros(now))
            tx.all("insert_entry", **rows.entry(entry, now))
            row = tx.one("find_by_ref", ref=ref)
            assert row is not None
            return rows.session(row, holders(tx, ref))

        return self._database.write(job)

    def progress(self, ref: int, worker: str, now: datetime) -> None:
        self._database.statement("make_progress", ref=ref, worker=worker, now=micros(now))


def _awake(tx: Transaction, actions: Sequence[ReapSession]) -> set[int]:
    """The sessions of which a holder is not as dead as it was taken for, with all others locked.

    Sessions before workers, each in order: keepers that meet wait instead of deadlocking. What
    joins a session is seen or waits, since its holders are counted after it is locked.
    """
    for seen in sorted((action.seen for action in actions), key=lambda each: each.ref):
        tx.one("lock_open", ref=seen.ref, epoch=seen.epoch)
    held = sorted((*holder, action.seen.ref) for action in actions for holder in action.dead)
    return {
        ref
        for worker, beat, ref in held
        if tx.one("confirm_dead", ref=ref, worker=worker, beat=beat) is None
    }


def _reap(tx: Transaction, action: ReapSession, entry: Entry, now: datetime) -> bool:
    """End the session and declare its holders dead, so that whoever beats again is told."""
    seen = action.seen
    ended = tx.one(
        "reap_session",
        ref=seen.ref,
        epoch=seen.epoch,
        active_at=micros(seen.active_at),
        message_count=seen.message_count,
        turn_count=seen.turn_count,
        reason=action.reason.code,
        dead=len(action.dead),
    )
    if ended is None:
        return False
    tx.all("drop_holders", ref=seen.ref)
    evidence = f"{action.reason.code.removeprefix('reaped:')}: {action.reason.text}"
    for worker, beat in action.dead:
        _declare(tx, worker, beat, evidence, now)
    tx.all("insert_entry", **rows.entry(entry, now))
    return True


def _declare(tx: Transaction, worker: str, beat: int, evidence: str, now: datetime) -> bool:
    declared = tx.one("declare_dead", worker=worker, beat=beat, evidence=evidence, now=micros(now))
    return declared is not None
