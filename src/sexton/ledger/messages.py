"""The messages of native sessions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sexton.ledger import rows
from sexton.ledger.database import Database, Transaction
from sexton.ledger.rows import maybe_micros, micros
from sexton.model.message import Draft, Message
from sexton.model.schedule import Schedule
from sexton.model.session import Session
from sexton.ports import Appended, Batch

PAGE = 256


class LedgerMessages:
    """Implements `ports.Messages`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._is_postgres = database.dialect == "postgres"

    def append(self, batch: Batch, now: datetime) -> Appended | None:
        values, drafts = _guard(batch, micros(now)), batch.drafts
        row: rows.Row | None
        if self._is_postgres:  # one statement, one round trip
            found = self._database.statement("append_messages", **values, **_columns(drafts))
            row = found[0] if found else None
        else:
            row = self._database.write(lambda tx: _store(tx, values, drafts))
        if row is None:
            row = self._database.write(lambda tx: self._store_anew(tx, values, drafts))
        return None if row is None else Appended(row[0], rows.limits(row[1]), row[2])

    def page(self, ref: int, after: int, byte_limit: int) -> list[Message]:
        """The next messages, at least one if there is one, not many more bytes than the limit."""

        def job(tx: Transaction) -> list[Message]:
            _check_here(tx, ref)
            through = last_within(tx, ref, after, byte_limit)
            found = tx.all("page_messages", session=ref, after=after, through=through)
            return [rows.message(row) for row in found]

        return self._database.read(job)

    def _store_anew(
        self, tx: Transaction, values: dict[str, Any], drafts: Sequence[Draft]
    ) -> rows.Row | None:
        """For a session whose due time was computed under other policies."""
        guard = {name: values[name] for name in ("ref", "epoch", "serial")}
        if tx.one("take_policies", **guard) is None:
            return None
        if self._is_postgres:
            return tx.one("append_messages", **values, **_columns(drafts))
        return _store(tx, values, drafts)


def last_within(tx: Transaction, ref: int, after: int, byte_limit: int) -> int:
    """The last message of a page that begins after another one."""
    through, total = after, 0
    for seq, size in tx.all("page_sizes", session=ref, after=after, limit=PAGE):
        through, total = seq, total + size
        if total >= byte_limit:
            break
    return through


def _check_here(tx: Transaction, ref: int) -> None:
    """Refuse to read what was removed: half of it may still be here."""
    row = tx.one("find_removed", ref=ref)
    if row is not None:
        from sexton.model.removal import removed  # noqa: PLC0415  # agents seldom meet it

        raise removed(row[0], rows.state(row[1]), row[2])


def _store(tx: Transaction, values: dict[str, Any], drafts: Sequence[Draft]) -> rows.Row | None:
    row = tx.one("append_guard", **values)
    if row is None:
        return None
    first = row[0] - len(drafts) + 1
    tx.many(
        "insert_message",
        [
            {
                "session": values["ref"],
                "seq": first + place,
                "at": values["now"],
                "role": draft.role,
                "is_text": int(draft.is_text),
                "content": draft.content,
                "extra": draft.extra,
            }
            for place, draft in enumerate(drafts)
        ],
    )
    return row


def _columns(drafts: Sequence[Draft]) -> dict[str, list[Any]]:
    return {
        "roles": [draft.role for draft in drafts],
        "texts": [int(draft.is_text) for draft in drafts],
        "contents": [draft.content for draft in drafts],
        "extras": [draft.extra for draft in drafts],
    }


def _guard(batch: Batch, now: int) -> dict[str, Any]:
    schedule: Schedule = batch.schedule
    session: Session = batch.session
    return {
        "ref": session.ref,
        "epoch": session.epoch,
        "count": len(batch.drafts),
        "bytes": sum(draft.size for draft in batch.drafts),
        "preview": batch.preview,
        "human": int(batch.from_human),
        "now": now,
        "due_at": maybe_micros(schedule.at),
        "serial": schedule.serial,
        "at_messages": schedule.at_messages,
        "at_bytes": schedule.at_bytes,
        "at_turns": schedule.at_turns,
    }
