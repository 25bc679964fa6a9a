"""The messages of native sessions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sexton.ledger import rows
from sexton.ledger.database import Database, Transaction
from sexton.ledger.rows import micros
from sexton.model.message import Draft, Message
from sexton.model.schedule import Schedule
from sexton.model.session import Session
from sexton.ports import Appended, Batch

PAGE = 256
SHORT = 8  # messages; the statements of an append stay prepared for each number up to it
LIGHT = 1_000_000  # bytes that may be in memory once more while they are stored


class _NotStored(Exception):
    """The session has ended or was taken over; raised to undo what was counted."""


class LedgerMessages:
    """Implements `ports.Messages`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._is_postgres = database.dialect == "postgres"

    def append(self, batch: Batch, now: datetime) -> Appended | None:
        values, drafts = _guard(batch, micros(now)), batch.drafts
        row: rows.Row | None
        if batch.spend is not None:
            return self._append_counted(batch, values, now)
        if self._is_postgres:  # one statement, one round trip
            found = self._database.statement("append_messages", **values, **_columns(drafts))
            row = found[0] if found else None
        else:
            append = _Append(values, drafts)
            is_light = values["bytes"] < LIGHT and 0 < len(drafts) <= SHORT
            # What is heavy or long shares neither call nor statement.
            row = self._database.write(append if is_light else append.__call__)
        if row is None:
            row = self._database.write(lambda tx: self._store_anew(tx, values, drafts))
        return None if row is None else Appended(row[0], rows.limits(row[1]), row[2])

    def _append_counted(
        self, batch: Batch, values: dict[str, Any], now: datetime
    ) -> Appended | None:
        """With what its messages spend, in one transaction."""
        from sexton.ledger.spending import take  # noqa: PLC0415  # few budgets count messages

        wanted = batch.spend
        assert wanted is not None

        def job(tx: Transaction) -> rows.Row:
            take(tx, wanted, now)
            row = (
                tx.one("append_messages", **values, **_columns(batch.drafts))
                if self._is_postgres
                else _Append(values, batch.drafts)(tx)
            )
            row = row or self._store_anew(tx, values, batch.drafts)
            if row is None:
                raise _NotStored
            return row

        try:
            row = self._database.write(job)
        except _NotStored:
            return None
        return Appended(row[0], rows.limits(row[1]), row[2])

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
        return _Append(values, drafts)(tx)


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


class _Append:
    """An append to SQLite, to be stored by itself or together with those of other sessions."""

    __slots__ = ("drafts", "values")

    def __init__(self, values: dict[str, Any], drafts: Sequence[Draft]) -> None:
        self.values = values
        self.drafts = drafts

    def __call__(self, tx: Any) -> rows.Row | None:
        return self.together(tx, [self])[0]

    def alone(self, tx: Any) -> rows.Row | None:
        """The same as a whole transaction, by one call of the engine."""
        place, said = len(self.drafts), list[Any]()
        for draft in self.drafts:
            place -= 1
            said += (place, draft.role, int(draft.is_text), draft.content, draft.extra)
        said += (self.values["ref"], self.values["ref"])
        row: rows.Row | None = tx.alone(
            "append_guard", self.values, "insert_guarded", said, len(self.drafts)
        )
        return row

    @staticmethod
    def together(tx: Any, jobs: Sequence[_Append]) -> list[rows.Row | None]:
        """The row of each one's session; None for what may not be written.

        One statement changes a session once, so further appends to it follow by themselves.
        """
        first: dict[int, _Append] = {}
        for job in jobs:
            first.setdefault(job.values["ref"], job)
        updated = tx.together("append_guard", [job.values for job in first.values()])
        stored = {row[-1]: row for row in updated}
        messages = [each for ref, row in stored.items() for each in first[ref].messages(row[0])]
        _insert(tx, messages, sum([job.values["bytes"] for job in jobs]))
        return [
            stored.get(job.values["ref"]) if first[job.values["ref"]] is job else job(tx)
            for job in jobs
        ]

    def messages(self, last_seq: int) -> list[tuple[Any, ...]]:
        """The rows of its messages, of which the last has that number."""
        ref, now, first = self.values["ref"], self.values["now"], last_seq - len(self.drafts) + 1
        return [
            (ref, seq, now, draft.role, int(draft.is_text), draft.content, draft.extra)
            for seq, draft in enumerate(self.drafts, first)
        ]


def _insert(tx: Any, messages: list[tuple[Any, ...]], size: int) -> None:
    """By few statements, unless so much would be in memory at once."""
    (tx.insert if size < LIGHT else tx.many)("insert_message", messages)


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
        "bytes": sum([draft.size for draft in batch.drafts]),
        "preview": batch.preview,
        "human": int(batch.from_human),
        "now": now,
        "due_at": None if schedule.at is None else micros(schedule.at),
        "serial": schedule.serial,
        "at_messages": schedule.at_messages,
        "at_bytes": schedule.at_bytes,
        "at_turns": schedule.at_turns,
    }
