"""The moves of native sessions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sexton.core.plan import Reason, Seen
from sexton.core.schedule import Schedule
from sexton.core.session import Relation, Session
from sexton.errors import LedgerBusy
from sexton.liveness.model import Holder
from sexton.sessions.model import Appended, Birth, WorkerUnknown
from sexton.store import rows
from sexton.store.database import Database, Transaction
from sexton.store.journal import Entry
from sexton.store.rows import maybe_micros, micros

ATTEMPTS = 20


class _Taken(Exception):
    """The next session can not begin; raised to undo the end of the last one."""


class LedgerSessions:
    """The moves of native sessions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def current(self, key: str) -> Session | None:
        """The open session of a key, with its holders."""

        def job(tx: Transaction) -> Session | None:
            row = tx.one("find_current", key=key)
            return None if row is None else rows.session(row, holders(tx, row[0]))

        return self._database.read(job)

    def begin(self, birth: Birth, now: datetime) -> Session | None:
        """Start a session; None if its key has an open one already.

        This, `join`, `replace` and `start_turn` raise WorkerUnknown for a worker that the ledger
        does not know.
        """
        return self._database.write(lambda tx: _begin(tx, birth, now))

    def join(
        self, session: Session, worker: str, dead: Sequence[str], now: datetime
    ) -> Session | None:
        """Become a holder in place of dead ones; adopting what nobody holds raises the epoch."""

        def job(tx: Transaction) -> Session | None:
            fence = rows.fence(session)
            if tx.one("lock_open", **fence) is None:
                return None
            tx.many("drop_holder", [{"ref": session.ref, "worker": gone} for gone in dead])
            tx.all("join_session", **fence)
            hold(tx, session.ref, worker, micros(now))
            return _reread(tx, session.ref)

        return self._database.write(job)

    def leave(
        self, worker: str, dies_with_owner: Sequence[str], now: datetime, actor: str = ""
    ) -> list[Session]:
        """Give up everything the worker holds; the sessions that ended with it."""

        def job(tx: Transaction) -> list[Session]:
            tx.all("lock_held", worker=worker)
            at = micros(now)
            ended = [
                row[0]
                for source in dies_with_owner
                for row in tx.all("end_with_owner", worker=worker, source=source, now=at)
            ]
            tx.all("drop_all_of_worker", worker=worker)
            tx.all("worker_left", worker=worker, now=at)
            closed = [_reread(tx, ref) for ref in ended]
            tx.many("insert_entry", [rows.entry(_closing(each, actor), now) for each in closed])
            return closed

        return self._database.write(job)

    def end(self, seen: Seen, reason: Reason, entry: Entry, now: datetime) -> bool:
        """End an open session, if it still is as seen; the first reason wins."""

        def job(tx: Transaction) -> bool:
            if not _end_as_seen(tx, seen, reason.code, now):
                return False
            tx.all("insert_entry", **rows.entry(entry, now))
            return True

        return self._database.write(job)

    def end_now(
        self, session: Session, reason: str, now: datetime, entry: Entry | None = None
    ) -> bool:
        """End an open session whatever has been written to it since, if the fence stands."""

        def job(tx: Transaction) -> bool:
            ended = tx.one("end_fenced", **rows.fence(session), reason=reason, now=micros(now))
            if ended is None:
                return False
            tx.all("drop_holders", ref=session.ref)
            if entry is not None:
                tx.all("insert_entry", **rows.entry(entry, now))
            return True

        return self._database.write(job)

    def replace(
        self, old: Session, reason: Reason, birth: Birth, entry: Entry, now: datetime
    ) -> Session | None:
        """End a session that still is as seen and start the next one of its key, together."""

        def job(tx: Transaction) -> Session | None:
            if not _end_as_seen(tx, old, reason.code, now):
                return None
            tx.all("insert_entry", **rows.entry(entry, now))
            fresh = _begin(tx, birth, now)
            if fresh is None:
                raise _Taken
            return fresh

        try:
            return self._database.write(job)
        except _Taken:
            return None

    def start_turn(
        self, session: Session, worker: str, schedule: Schedule, now: datetime, seen: int = 0
    ) -> Appended | None:
        """Count a turn and mark the holder busy; None also if the message `seen` is not there."""

        def job(tx: Transaction) -> Appended | None:
            at = micros(now)
            fence = rows.fence(session) | {"seen": seen}
            row = tx.one("start_turn", **fence, at_turns=schedule.at_turns, now=at)
            if row is None:
                return None
            if tx.one("mark_busy", ref=session.ref, worker=worker, now=at) is None:
                raise WorkerUnknown
            return Appended(row[0], rows.limits(row[1]), row[2])

        return self._database.write(job)

    def finish_turn(
        self, session: Session, worker: str, failed: bool, guard: str | None = None
    ) -> bool:
        """Clear the mark that `start_turn` made; False if it is not here (any more).

        `guard` is what is remembered of how the tools did; that and the failure only while the
        fence stands.
        """
        fence = rows.fence(session)

        def job(tx: Transaction) -> bool:
            if failed:
                tx.all("mark_errored", **fence)
            if guard is not None:
                tx.all("store_guard", **fence, guard=guard)
            return tx.one("clear_busy", ref=session.ref, worker=worker) is not None

        return self._database.write(job)

    def mark(
        self,
        ref: int,
        *,
        pinned: bool | None = None,
        title: str | None = None,
        noted: tuple[Entry, datetime] | None = None,
        epoch: int | None = None,
    ) -> bool:
        """Change what a person may change about a session, and note it in the journal.

        Where the conversation was compressed, in its newest session; a pin is for all of it.
        With an epoch only while that fence stands: an agent may have lost the session.
        """

        def job(tx: Transaction) -> bool:
            found, fence = True, {"ref": _newest(tx, ref), "epoch": epoch}
            if pinned is not None:
                found = bool(tx.all("mark_pinned", **fence, pinned=int(pinned)))
            if title is not None:
                found = tx.one("mark_title", **fence, title=title) is not None
            if found and noted is not None:
                tx.all("insert_entry", **rows.entry(*noted))
            return found

        return self._database.write(job)


def _newest(tx: Transaction, ref: int) -> int:
    """The newest session of a conversation, which nobody compresses before this is committed."""
    for _ in range(ATTEMPTS):
        later = tx.one("find_tip", ref=ref)
        ref = ref if later is None else int(later[0])
        tx.all("lock_sessions", refs=f"[{ref}]")
        if tx.one("find_tip", ref=ref) is None:
            return ref
    raise LedgerBusy("the conversation is compressed faster than it can be followed")


def holders(tx: Transaction, ref: int) -> list[Holder]:
    """The holders of a session, first come first."""
    return [rows.holder(row) for row in tx.all("find_holders", ref=ref)]


def hold(tx: Transaction, ref: int, worker: str, now: int) -> None:
    """Make a worker a holder of a session; WorkerUnknown undoes all that led there."""
    if tx.one("add_holder", ref=ref, worker=worker, now=now) is None:
        raise WorkerUnknown


def _closing(session: Session, actor: str) -> Entry:
    reason = Reason("closed", "its last holder left, and its source ends with its owner")
    return Entry(
        actor=actor,
        receipt=None,
        home=session.home,
        session=session.id,
        action="end",
        result="done",
        reason=reason,
    )


def _reread(tx: Transaction, ref: int) -> Session:
    row = tx.one("find_by_ref", ref=ref)
    assert row is not None
    return rows.session(row, holders(tx, ref))


def _end_as_seen(tx: Transaction, seen: Seen | Session, reason: str, now: datetime) -> bool:
    ended = tx.one(
        "end_as_seen",
        **rows.fence(seen),
        active_at=micros(seen.active_at),
        message_count=seen.message_count,
        turn_count=seen.turn_count,
        pinned=int(seen.pinned),
        reason=reason,
        now=micros(now),
    )
    if ended is not None:
        tx.all("drop_holders", ref=seen.ref)
    return ended is not None


def root_of(tx: Transaction, ref: int) -> int:
    """The row of the session from which a session's tree grew."""
    row = tx.one("find_root", ref=ref)
    return ref if row is None or row[0] is None else int(row[0])


def _root_of_parent(tx: Transaction, birth: Birth) -> int | None:
    """What a branch or a fork spends is its own."""
    if birth.parent is None or birth.relation not in (Relation.SUBAGENT, Relation.COMPRESSION):
        return None
    parent = tx.one("find_ref", id=birth.parent)
    return None if parent is None else root_of(tx, parent[0])


def _begin(tx: Transaction, birth: Birth, now: datetime) -> Session | None:
    at = micros(now)
    row = tx.one(
        "insert_session",
        random=rows.random_end(),
        id=birth.id,
        key=birth.key,
        source=birth.source,
        chat_type=birth.chat_type,
        job=birth.job,
        parent=birth.parent,
        relation=birth.relation,
        root=_root_of_parent(tx, birth),
        title=birth.title,
        now=at,
        due_at=maybe_micros(birth.schedule.at),
        serial=birth.schedule.serial,
    )
    if row is None:
        return None
    if birth.worker is not None:
        hold(tx, row[0], birth.worker, at)
    return _reread(tx, row[0])
