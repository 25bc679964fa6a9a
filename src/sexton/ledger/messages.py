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
from sexton.model.session import Limit, Session
from sexton.ports import Appended, Batch

PAGE = 256


class LedgerMessages:
    """Implements `ports.Messages`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._append = (
            self._append_in_one_statement
            if database.dialect == "postgres"
            else self._append_row_by_row
        )

    def append(self, batch: Batch, now: datetime) -> Appended | None:
        values = _guard(batch, micros(now))
        row = self._append(values, batch.drafts)
        return None if row is None else Appended(row[0], Limit(row[1]), row[2])

    def page(self, ref: int, after: int, byte_limit: int) -> list[Message]:
        """The next messages, at least one if there is one, not many more bytes than the limit."""

        def job(tx: Transaction) -> list[Message]:
            through, total = after, 0
            for seq, size in tx.all("page_sizes", session=ref, after=after, limit=PAGE):
                through, total = seq, total + size
                if total >= byte_limit:
                    break
            found = tx.all("page_messages", session=ref, after=after, through=through)
            return [rows.message(row) for row in found]

        return self._database.read(job)

    def _append_row_by_row(
        self, values: dict[str, Any], drafts: Sequence[Draft]
    ) -> rows.Row | None:
        def job(tx: Transaction) -> rows.Row | None:
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

        return self._database.write(job)

    def _append_in_one_statement(
        self, values: dict[str, Any], drafts: Sequence[Draft]
    ) -> rows.Row | None:
        found = self._database.statement(
            "append_messages",
            **values,
            roles=[draft.role for draft in drafts],
            texts=[int(draft.is_text) for draft in drafts],
            contents=[draft.content for draft in drafts],
            extras=[draft.extra for draft in drafts],
        )
        return found[0] if found else None


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
