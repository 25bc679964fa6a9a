"""Questions about the sessions of all homes."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from itertools import chain
from typing import Any

from sexton.core.plan import Seen
from sexton.core.schedule import Schedule
from sexton.core.session import Limit, Session, State
from sexton.liveness.model import Holder, Worker
from sexton.sessions.model import Filter, Place
from sexton.sessions.store import holders
from sexton.store import rows
from sexton.store.database import Database, Transaction
from sexton.store.journal import Entry
from sexton.store.rows import maybe_micros, micros

_END_OF_TIME = 2**62
_BEGINNING = -(2**62)
_LAST = "\U0010ffff"
NEWEST = 2
"""A page of open sessions is looked for among so many times as many of the newest first."""


class LedgerIndex:
    """Questions about the sessions of all homes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, home: str | None, id: str) -> list[Session]:
        """The sessions with that id, with holders; several only where homes share an id."""

        def job(tx: Transaction) -> list[Session]:
            found = tx.all("find_by_id", id=id)
            return [_with_holders(tx, row) for row in found if home in (None, row[1])]

        return self._database.read(job)

    def before(self, session: Session) -> Session | None:
        """The native session that the key of this one had before it, wherever it is kept now."""
        if session.key is None:
            return None
        wanted = {"key": session.key, "ref": session.ref}
        row = self._database.read(lambda tx: tx.one("find_before", **wanted))
        return None if row is None else rows.session(row)

    def begins_with(self, prefix: str, limit: int) -> list[Session]:
        """The sessions whose id begins like that, with holders."""

        def job(tx: Transaction) -> list[Session]:
            found = tx.all("find_by_prefix", first=prefix, after=prefix + _LAST, limit=limit)
            return [_with_holders(tx, row) for row in found]

        return self._database.read(job)

    def page(self, wanted: Filter, before: Place | None, limit: int) -> list[Session]:
        """Sessions by last activity, newest first, with holders.

        One indexed query per home, merged: any page of any size of ledger costs the same, and one
        of open sessions costs what is open. Those that were last active in the same second are
        sorted together.
        """

        def job(tx: Transaction) -> list[Session]:
            values = {
                "source": wanted.source,
                "key": wanted.key,
                "limit": limit,
                "active_at": _END_OF_TIME if before is None else micros(before.at),
                "ref": _END_OF_TIME if before is None else before.ref,
            }
            parts = [
                _page(tx, wanted, values | {"home": home[0]})
                for home in tx.all("all_homes")
                if wanted.home in (None, home[1])
            ]
            newest = sorted(chain.from_iterable(parts), key=_activity, reverse=True)
            return with_holders(tx, newest[:limit])

        return self._database.read(job)

    def open(self, home: str, after: Session | None, limit: int) -> list[Session]:
        """Open sessions of a home by id, after one of them, with holders; to go through all."""
        id, ref = ("", 0) if after is None else (after.id, after.ref)

        def job(tx: Transaction) -> list[Session]:
            return with_holders(tx, tx.all("open_by_id", home=home, id=id, ref=ref, limit=limit))

        return self._database.read(job)

    def due(self, now: datetime, after: Place | None, limit: int) -> list[Session]:
        """Open sessions whose due time has come, oldest due first, with holders."""

        def job(tx: Transaction) -> list[Session]:
            found = tx.all(
                "page_due",
                now=micros(now),
                due_at=-_END_OF_TIME if after is None else micros(after.at),
                ref=0 if after is None else after.ref,
                limit=limit,
            )
            return with_holders(tx, found)

        return self._database.read(job)

    def stale(self, serial: int, limit: int) -> list[Session]:
        """Open native sessions whose due time was computed under older policies."""
        found = self._database.read(lambda tx: tx.all("page_stale", serial=serial, limit=limit))
        return [rows.session(row) for row in found]

    def reschedule(self, plans: Sequence[tuple[Session, Schedule]]) -> int:
        """Store new due times where nothing changed meanwhile; how many were stored."""

        def job(tx: Transaction) -> int:
            return sum(
                tx.one("reschedule", **_rescheduling(session, schedule)) is not None
                for session, schedule in plans
            )

        return self._database.write(job)

    def warn(self, seen: Seen, limit: Limit, entry: Entry, now: datetime) -> bool:
        """Record that the session was warned about a limit, once."""

        def job(tx: Transaction) -> bool:
            if tx.one("set_warned", **rows.fence(seen), limit=int(limit)) is None:
                return False
            tx.all("insert_entry", **rows.entry(entry, now))
            return True

        return self._database.write(job)


def _page(tx: Transaction, wanted: Filter, values: dict[str, Any]) -> list[rows.Row]:
    """A page of one home; where few of the newest are open, the open ones are sorted instead."""
    asked = values | {"state": wanted.state, "folded": int(wanted.folded), "low": _BEGINNING}
    if wanted.state is not State.OPEN:
        return tx.all("page_recent", **asked)
    spot = {"home": values["home"], "value": values["active_at"], "ref": values["ref"]}
    bound = tx.one("bound_active", **spot, steps=NEWEST * values["limit"])
    found = tx.all("page_recent", **asked | ({} if bound is None else {"low": bound[0]}))
    if bound is None or len(found) == values["limit"]:
        return found
    return tx.all("page_open", **values)


def with_holders(tx: Transaction, found: Sequence[rows.Row]) -> list[Session]:
    """Sessions with their holders, fetched together; a worker holds many of them."""
    refs = json.dumps([row[0] for row in found if row[9] == State.OPEN])
    known: dict[str, Worker] = {}
    held: dict[int, list[Holder]] = defaultdict(list)
    for row in tx.all("find_holders_of", refs=refs):
        worker = known.get(row[4]) or known.setdefault(row[4], rows.worker(row[4:]))
        held[row[0]].append(rows.holding(row, worker))
    return [rows.session(row, held.get(row[0], ())) for row in found]


def _with_holders(tx: Transaction, row: rows.Row) -> Session:
    return rows.session(row, holders(tx, row[0]) if row[9] == State.OPEN else ())


def _activity(row: rows.Row) -> tuple[int, int]:
    return row[12], row[0]


def _rescheduling(session: Session, schedule: Schedule) -> dict[str, Any]:
    return {
        "ref": session.ref,
        "id": session.id,
        "due_at": maybe_micros(schedule.at),
        "serial": schedule.serial,
        "active_at": micros(session.active_at),
        "message_count": session.message_count,
        "turn_count": session.turn_count,
    }
