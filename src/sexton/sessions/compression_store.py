"""Conversations that are a chain of sessions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sexton.core.message import Draft
from sexton.core.record import record
from sexton.core.session import Session
from sexton.errors import SessionRewound
from sexton.sessions.store import holders, root_of
from sexton.store import rows
from sexton.store.database import Database, Transaction
from sexton.store.journal import Entry
from sexton.store.rows import maybe_moment, micros


@record
class Shortening:
    """What becomes of a session: its messages after `head` up to `through` give way to a summary.

    Those up to `head` and all after `through` are kept, also what is said until it is done. Where
    the summary is but a `fallback`, the session owes the end-of-session work for what it is about.
    A session without the message that was `seen` stored was set back, and is not compressed.
    """

    session: Session
    id: str
    head: int
    through: int
    summary: Draft
    entries: Sequence[Entry]
    fallback: bool = False
    seen: int = 0


class Readiness(NamedTuple):
    """When a session may be compressed again; None: at any time."""

    rests_until: datetime | None


class Part(NamedTuple):
    """A session of a chain, and the message after which what it holds was first said there."""

    ref: int
    after: int


class LedgerCompression:
    """Conversations that are a chain of sessions. A parent ends when its child begins."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def readiness(self, session: Session) -> Readiness | None:
        """Whether the session is to rest first; None if it ended or the fence fell."""
        fence = rows.fence(session)
        row = self._database.read(lambda tx: tx.one("find_readiness", **fence))
        return None if row is None else Readiness(maybe_moment(row[0]))

    def compress(self, wanted: Shortening, now: datetime) -> Session | None:
        """End the session and begin the shorter one in its place, with its epoch and holders.

        None if it ended or the fence fell; then nothing is changed.
        """

        def job(tx: Transaction) -> Session | None:
            fence = rows.fence(wanted.session)
            untold = wanted.through if wanted.fallback else None
            ended = {"untold": untold, "seen": wanted.seen, "now": micros(now)}
            if tx.one("end_compressed", **fence, **ended) is None:
                return None
            child = _begin_shorter(tx, wanted, micros(now))
            tx.many("insert_entry", [rows.entry(entry, now) for entry in wanted.entries])
            row = tx.one("find_by_ref", ref=child)
            assert row is not None
            return rows.session(row, holders(tx, child))

        return self._database.write(job)

    def rest(self, session: Session, until: datetime, entry: Entry, now: datetime) -> bool:
        """Record that a summary failed, and until when nobody need try again."""

        def job(tx: Transaction) -> bool:
            fence = rows.fence(session)
            if tx.one("rest_session", **fence, until=micros(until)) is None:
                return False
            tx.all("insert_entry", **rows.entry(entry, now))
            return True

        return self._database.write(job)

    def tip(self, ref: int) -> Session | None:
        """The newest session of the conversation; None if the session was never compressed."""

        def job(tx: Transaction) -> Session | None:
            row = tx.one("find_tip", ref=ref)
            return None if row is None else rows.session(row, holders(tx, row[0]))

        return self._database.read(job)

    def chain(self, ref: int) -> list[Part]:
        """The sessions of the conversation up to this one, oldest first."""
        found = [
            Part(*row) for row in self._database.read(lambda tx: tx.all("find_chain", ref=ref))
        ]
        if not found:
            raise SessionRewound("the ledger was set back to a state before the session began")
        # Where the parent of the oldest is gone, its copies are all there is.
        return [part._replace(after=0) for part in found[:1]] + found[1:]


def _begin_shorter(tx: Transaction, wanted: Shortening, now: int) -> int:
    """The row of the child; whatever was written to the parent before it ended is in there."""
    span = {"ref": wanted.session.ref, "head": wanted.head, "through": wanted.through}
    summary = wanted.summary
    root = root_of(tx, wanted.session.ref)
    new = {"random": rows.random_end(), "id": wanted.id, "root": root}
    row = tx.one("insert_shorter", **span, **new, size=summary.size)
    assert row is not None
    child: int = row[0]
    tx.all("copy_messages", **span, child=child)
    tx.all(
        "insert_message",
        session=child,
        seq=wanted.head + 1,
        at=now,
        role=summary.role,
        is_text=int(summary.is_text),
        content=summary.content,
        extra=summary.extra,
    )
    tx.all("move_holders", ref=wanted.session.ref, child=child)
    tx.all("move_processes", ref=wanted.session.ref, child=child, id=wanted.id)
    tx.all("cover_copies", **span, child=child, now=now)
    return child
