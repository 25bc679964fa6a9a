"""The messages of native sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sexton.core.message import Draft, Message
from sexton.errors import SessionRewound
from sexton.sessions.model import Appended, Batch
from sexton.store import rows
from sexton.store.database import Database, Transaction
from sexton.store.rows import micros

PAGE = 256
AWAY = ("archived", "trashed", "purged")


class _NotStored(Exception):
    """The session has ended or was taken over; raised to undo what was counted."""


class LedgerMessages:
    """The messages of native sessions."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._is_postgres = database.dialect == "postgres"

    def append(self, batch: Batch, now: datetime) -> Appended | None:
        """Store messages durably, all or none; None if the session ended or the fence fell.

        None also if the session has fewer messages than its writer has seen there.
        """
        guard = _guard(batch, now)
        if batch.spend is not None:
            return self._append_counted(batch, guard, now)
        row: rows.Row | None
        if self._is_postgres:  # one statement, one round trip
            found = self._database.statement("append_messages", **guard, **_columns(batch.drafts))
            row = found[0] if found else None
        else:
            row = self._database.write(lambda tx: self._store(tx, batch, guard))
        if row is None:
            row = self._database.write(lambda tx: self._store_anew(tx, batch, guard))
        return None if row is None else Appended(row[0], rows.limits(row[1]), row[2])

    def _append_counted(
        self, batch: Batch, guard: dict[str, Any], now: datetime
    ) -> Appended | None:
        """With what its messages spend, in one transaction."""
        from sexton.spending.store import take  # noqa: PLC0415  # few budgets count messages

        wanted = batch.spend
        assert wanted is not None

        def job(tx: Transaction) -> rows.Row:
            take(tx, wanted, now)
            row = self._store(tx, batch, guard) or self._store_anew(tx, batch, guard)
            if row is None:
                raise _NotStored
            return row

        try:
            row = self._database.write(job)
        except _NotStored:
            return None
        return Appended(row[0], rows.limits(row[1]), row[2])

    def page(self, ref: int, after: int, byte_limit: int, seen: int = 0) -> list[Message]:
        """The next messages in order, at least one, not many more bytes than the limit.

        SessionRewound if there is no such session, as none is ever deleted, or if it has fewer
        messages than were seen there.
        """

        def job(tx: Transaction) -> list[Message]:
            _check_here(tx, ref, seen)
            through = last_within(tx, ref, after, byte_limit)
            found = tx.all("page_messages", session=ref, after=after, through=through)
            return [rows.message(row) for row in found]

        return self._database.read(job)

    def lacking(self, seen: Mapping[int, int]) -> list[int]:
        """The sessions that are not there, or have fewer messages than were seen there."""
        import json  # noqa: PLC0415  # slow to load; whoever has heartbeats has it

        marks = json.dumps(list(seen.items()))
        return [row[0] for row in self._database.read(lambda tx: tx.all("lacking", marks=marks))]

    def _store_anew(self, tx: Transaction, batch: Batch, guard: dict[str, Any]) -> rows.Row | None:
        """For a session whose due time was computed under other policies."""
        fence = rows.fence(batch.session) | {"seen": batch.seen}
        if tx.one("take_policies", **fence, serial=batch.schedule.serial) is None:
            return None
        return self._store(tx, batch, guard)

    def _store(self, tx: Transaction, batch: Batch, guard: dict[str, Any]) -> rows.Row | None:
        if self._is_postgres:
            return tx.one("append_messages", **guard, **_columns(batch.drafts))
        row = tx.one("append_guard", **guard)
        if row is not None:
            place = {"session": guard["ref"], "at": guard["now"]}
            drafts = enumerate(batch.drafts, row[0] - len(batch.drafts) + 1)
            tx.many("insert_message", [place | {"seq": n} | d._asdict() for n, d in drafts])
        return row


def last_within(tx: Transaction, ref: int, after: int, byte_limit: int) -> int:
    """The last message of a page that begins after another one."""
    through, total = after, 0
    for seq, size in tx.all("page_sizes", session=ref, after=after, limit=PAGE):
        through, total = seq, total + size
        if total >= byte_limit:
            break
    return through


def _check_here(tx: Transaction, ref: int, seen: int) -> None:
    """Refuse to read what was removed, as half of it may still be here, and what is not there."""
    row = tx.one("find_place", ref=ref)
    if row is None:
        raise SessionRewound("the ledger was set back to a state before the session began")
    if row[1] in AWAY:
        from sexton.retention.model import removed  # noqa: PLC0415  # agents seldom meet it

        raise removed(row[0], rows.state(row[1]), row[2])
    if row[3] < seen:
        raise SessionRewound(f"the ledger was set back: message {seen} of {row[0]} is lost")


def _columns(drafts: Sequence[Draft]) -> dict[str, Any]:
    return {
        "roles": [draft.role for draft in drafts],
        "texts": [int(draft.is_text) for draft in drafts],
        "contents": [draft.content for draft in drafts],
        "extras": [draft.extra for draft in drafts],
    }


def _guard(batch: Batch, now: datetime) -> dict[str, Any]:
    """The values that an append is refused or counted by."""
    schedule, size = batch.schedule, 0
    for draft in batch.drafts:
        size += len(draft.content or b"") + len(draft.extra or b"")
    return rows.fence(batch.session) | {
        "seen": batch.seen,
        "serial": schedule.serial,
        "count": len(batch.drafts),
        "bytes": size,
        "now": micros(now),
        "due_at": rows.maybe_micros(schedule.at),
        "at_messages": schedule.at_messages,
        "at_bytes": schedule.at_bytes,
        "at_turns": schedule.at_turns,
        "preview": batch.preview,
        "human": int(batch.from_human),
    }
