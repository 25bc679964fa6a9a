"""What people are told: posted once, taken on by one, and forgotten after a while."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sexton.core.message import one_line
from sexton.finalizers.policy import LONGEST_WAIT
from sexton.notifications.model import Event, Letter, LetterState, Notice
from sexton.store import rows
from sexton.store.database import Database, Transaction
from sexton.store.rows import maybe_micros, maybe_moment, micros, moment

WORDS = 1000
"""The longest error, in characters."""

_END_OF_TIME = 2**62


class LedgerOutbox:
    """The notices of a ledger. Each is there once for each target, whoever posts it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def known(self, keys: Sequence[str]) -> frozenset[str]:
        """Which of the keys were posted already, to whatever target."""
        listed = json.dumps(list(keys))
        found = self._database.read(lambda tx: tx.all("known_notices", keys=listed))
        return frozenset(row[0] for row in found)

    def post(self, notices: Sequence[Notice], targets: Iterable[str], now: datetime) -> None:
        # In one order, so that two that post the same wait for one another, not both for ever.
        """Put notices in for each target; one that is there already stays as it is."""
        ordered = sorted(notices, key=lambda notice: notice.key)
        values = [_row(notice, target, now) for target in sorted(targets) for notice in ordered]
        if values:
            self._database.write(lambda tx: tx.many("post_notice", values))

    def claim(self, worker: str, target: str, limit: int, now: datetime) -> list[Letter]:
        """Take on letters whose time has come, oldest first; each is one worker's only.

        None for a worker that left or was taken for dead.
        """
        values = {"worker": worker, "target": target, "limit": limit, "now": micros(now)}

        def job(tx: Transaction) -> list[rows.Row]:
            taken = tx.all("claim_letters", **values)
            return tx.all("find_letters", refs=json.dumps([row[0] for row in taken]))

        return [_letter(row) for row in self._database.write(job)]

    def finish(self, taken: Letter, now: datetime) -> bool:
        """Delivered; False if the claim was lost."""
        return bool(self._database.statement("finish_letter", **_fence(taken), now=micros(now)))

    def put_back(self, taken: Letter, error: str, again: datetime | None, now: datetime) -> bool:
        """Not delivered: tried again from a moment on, or given up for good (None)."""
        values = _fence(taken) | {
            "state": LetterState.PENDING if again else LetterState.FAILED,
            "again": maybe_micros(again),
            "finished": None if again else micros(now),
            "error": one_line(error[: WORDS * 4])[:WORDS],
        }
        return bool(self._database.statement("put_back_letter", **values))

    def free(self, worker: str, now: datetime) -> int:
        """Make letters pending again that this worker, one taken for dead or one that left had.

        What is to wait for longer than anything does has waited long enough.
        """

        def job(tx: Transaction) -> int:
            tx.all("hasten_letters", now=micros(now), latest=micros(now + LONGEST_WAIT))
            return len(tx.all("free_letters", worker=worker, now=micros(now)))

        return self._database.write(job)

    def forget(self, before: datetime) -> int:
        """Drop what was posted before a moment, delivered or not."""
        return len(self._database.statement("forget_letters", before=micros(before)))

    def page(self, state: LetterState | None, after: int | None, limit: int) -> list[Letter]:
        """Letters, newest first."""
        values: dict[str, Any] = {
            "before": _END_OF_TIME if after is None else after,
            "limit": limit,
        }
        name = "page_letters"
        if state is not None:
            name = "page_letters_in_state"
            values |= {"state": state}
        return [_letter(row) for row in self._database.read(lambda tx: tx.all(name, **values))]

    def held_since(self, sessions: Sequence[int], now: datetime) -> Mapping[int, datetime]:
        """Since when each of the sessions is held back, these being all that are.

        Writes only if others are held back than before.
        """
        before = self._database.read(lambda tx: tx.all("all_held"))
        if {row[0] for row in before} != set(sessions):
            before = self._database.write(lambda tx: _remember(tx, sessions, now))
        return {row[0]: moment(row[1]) for row in before}


def _remember(tx: Transaction, sessions: Sequence[int], now: datetime) -> list[rows.Row]:
    refs = json.dumps(list(sessions))
    tx.all("forget_held", refs=refs)
    tx.all("remember_held", refs=refs, now=micros(now))
    return tx.all("all_held")


def _fence(taken: Letter) -> dict[str, Any]:
    return {"ref": taken.ref, "worker": taken.worker, "claim": taken.claim}


def _row(notice: Notice, target: str, now: datetime) -> dict[str, Any]:
    return {
        "key": notice.key,
        "target": target,
        "event": notice.event,
        "title": notice.title,
        "text": notice.text,
        "home": notice.home,
        "session": notice.session,
        "state": LetterState.FOLDED if notice.folded else LetterState.PENDING,
        "now": micros(now),
    }


def _letter(row: rows.Row) -> Letter:
    state = LetterState(row[8])
    notice = Notice(
        key=row[2],
        event=Event(row[3]),
        title=row[4],
        text=row[5],
        home=row[6],
        session=row[7],
        folded=state is LetterState.FOLDED,
    )
    return Letter(
        ref=row[0],
        target=row[1],
        notice=notice,
        state=state,
        attempts=row[9],
        claim=row[10],
        worker=row[11],
        posted_at=moment(row[12]),
        not_before=moment(row[13]),
        finished_at=maybe_moment(row[14]),
        last_error=row[15],
    )
