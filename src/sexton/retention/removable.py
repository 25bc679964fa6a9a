"""Questions about sessions that may be removed, and what there is of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from itertools import groupby
from operator import itemgetter
from typing import Any

from sexton.core.session import Relation, State
from sexton.retention.model import Member, Sieve, StoredMessage, StoredSession
from sexton.sessions.message_store import last_within
from sexton.sessions.model import Place
from sexton.store.database import Database, Transaction
from sexton.store.rows import Row, maybe_moment, micros, moment

_WORK = (
    "session", "finalizer", "since", "through", "state", "attempts", "owed_at", "finished_at",
    "last_error", "note",
)  # fmt: skip
_STATES = {state.value: state for state in State}
_RELATIONS: dict[str | None, Relation | None] = {
    None: None,
    **{each.value: each for each in Relation},
}
_END = 2**62


class LedgerRemovable:
    """Questions about sessions that may be removed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def counts(self, home: str, most: int) -> list[int]:
        """Which numbers of messages ended sessions of a home have, up to a number."""

        def job(tx: Transaction) -> list[Row]:
            return tx.all("counts_present", home=_home(tx, home), most=most)

        return [row[0] for row in self._database.read(job)]

    def candidates(self, home: str, sieve: Sieve, after: Place | None, limit: int) -> list[Member]:
        """The sessions that pass, most recently active first; costs what is found."""
        values = {
            "count": sieve.count,
            "source": sieve.source,
            "active_at": micros(sieve.before if after is None else after.at),
            "ref": _END if after is None else after.ref,
            "limit": limit,
        }
        found = self._database.read(
            lambda tx: tx.all("page_candidates", home=_home(tx, home), **values)
        )
        return [_member(row) for row in found]

    def relatives(self, home: str, *, named: Sequence[str], below: Sequence[str]) -> list[Member]:
        """The sessions with those ids, and the children of others."""

        def job(tx: Transaction) -> list[Row]:
            ref = _home(tx, home)
            return [
                *tx.all("members_named", home=ref, names=json.dumps(list(named))),
                *tx.all("members_below", home=ref, names=json.dumps(list(below))),
            ]

        return [_member(row) for row in self._database.read(job)]

    def rows(self, refs: Sequence[int]) -> dict[int, StoredSession]:
        """Sessions as they are stored."""

        def job(tx: Transaction) -> tuple[list[Row], list[Row]]:
            listed = json.dumps(list(refs))
            return (
                tx.all("stored_session", refs=listed),
                tx.all("stored_finalizations", refs=listed),
            )

        sessions, work = self._database.read(job)
        owed: dict[int, list[dict[str, Any]]] = {}
        for row in work:
            owed.setdefault(row[0], []).append(dict(zip(_WORK[1:], row[1:], strict=True)))
        return {
            ref: StoredSession(_STATES[state], last_seq, row, owed.get(ref, ()))
            for ref, state, last_seq, row in sessions
        }

    def messages(self, refs: Sequence[int]) -> dict[int, list[StoredMessage]]:
        """All messages of some small sessions."""
        listed = json.dumps(list(refs))
        found = self._database.read(lambda tx: tx.all("stored_messages", refs=listed))
        return {
            ref: [StoredMessage._make(row[1:]) for row in group]
            for ref, group in groupby(found, key=itemgetter(0))
        }

    def message_page(self, ref: int, after: int, byte_limit: int) -> list[StoredMessage]:
        """The next messages of a big one, at least one if there is one."""

        def job(tx: Transaction) -> list[Row]:
            through = last_within(tx, ref, after, byte_limit)
            return tx.all("page_stored", session=ref, after=after, through=through)

        return [StoredMessage._make(row) for row in self._database.read(job)]

    def removed_on(self, home: str, day: date) -> int:
        """How many sessions were removed on a day without a person's word."""
        values = {"home": home, "day": day.isoformat()}
        row = self._database.read(lambda tx: tx.one("removed_on", **values))
        return row[0] if row else 0


def _home(tx: Transaction, name: str) -> int:
    """The row of a home; one that nobody knows has no sessions."""
    return next((row[0] for row in tx.all("all_homes") if row[1] == name), 0)


def _member(row: Row) -> Member:
    ref, id, source, parent, relation, state, epoch, active_at, messages, turns, size, *rest = row
    pinned, held, owed, given_up_at = rest
    return Member(
        ref,
        id,
        source,
        parent,
        _RELATIONS[relation],
        _STATES[state],
        epoch,
        moment(active_at),
        messages,
        turns,
        size,
        bool(pinned),
        bool(held),
        bool(owed),
        maybe_moment(given_up_at),
    )
