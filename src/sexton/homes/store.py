"""The homes of a ledger and the facts observed in them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from itertools import count
from typing import Any

from sexton.core.session import NATIVE
from sexton.errors import HomeRewound
from sexton.homes.census import LedgerCensus
from sexton.homes.home_ports import HomeRecord, Sighting
from sexton.store import rows
from sexton.store.database import Database, Transaction
from sexton.store.rows import maybe_moment, micros


class LedgerHomes:
    """Implements `ports.Homes`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.census = LedgerCensus(database)

    def attach(self, name: str, kind: str, path: str, host: str, act: bool) -> HomeRecord:
        def job(tx: Transaction) -> HomeRecord:
            free = next(
                each
                for each in _variants(name)
                if tx.one("name_taken", name=each, host=host, path=path) is None
            )
            row = tx.one("attach_home", name=free, kind=kind, path=path, host=host, act=int(act))
            assert row is not None
            return _home(row)

        return self._database.write(job)

    def all(self) -> list[HomeRecord]:
        return [_home(row) for row in self._database.read(lambda tx: tx.all("all_homes"))]

    def store(self, home: HomeRecord, sighting: Sighting, rules: str | None, now: datetime) -> None:
        seen = [rows.facts(session, home.ref) for session in sighting.seen]

        def job(tx: Transaction) -> None:
            place = {"name": home.name, "host": home.host, "path": home.path}
            # A ledger that was set back may have given the number to another home since.
            if tx.one("is_home", home=home.ref, **place) is None:
                raise HomeRewound(
                    f"the ledger was set back: it does not know {home.name} as before"
                )
            tx.many("store_facts", seen)
            ((recorded,),) = tx.all("first_shadow_reap", home=home.name)
            if recorded is not None:
                tx.many("contradict_shadow_reap", _activity(home, sighting, now))
            tx.many("forget_session", [{"home": home.ref, "id": id} for id in sighting.gone])
            if sighting.mark is not None:
                tx.all(
                    "store_mark",
                    home=home.ref,
                    mark=json.dumps(dict(sighting.mark), sort_keys=True),
                    rules=rules,
                    now=micros(now),
                )

        self._database.write(job)

    def ids(self, home: HomeRecord, *, open_only: bool) -> list[str]:
        """Of our own home also what is in the vault: nobody else could tell."""
        name = "open_ids_of_home" if open_only else "ids_of_home"
        given = {"home": home.ref} | ({} if open_only else {"removed": int(home.name == NATIVE)})
        return [row[0] for row in self._database.read(lambda tx: tx.all(name, **given))]

    def grown(self, session: int, messages: int) -> None:
        given = {"ref": session, "messages": messages}
        self._database.write(lambda tx: tx.all("grow_session", **given), lasting=False)


def _activity(home: HomeRecord, sighting: Sighting, now: datetime) -> list[dict[str, Any]]:
    """What proves a recorded reap wrong: activity after it, of which an end alone is none."""
    return [
        {
            "home": home.name,
            "session": session.id,
            "active_at": micros(session.active_at),
            "now": micros(now),
        }
        for session in sighting.seen
        if session.ended_at is None or session.active_at < session.ended_at
    ]


def _variants(name: str) -> Iterator[str]:
    """The name, then name-2, name-3, ...: two homes called the same stay apart."""
    yield name
    for number in count(2):
        yield f"{name}-{number}"


def _home(row: rows.Row) -> HomeRecord:
    """A home from the columns of `all_homes`."""
    return HomeRecord(
        ref=row[0],
        name=row[1],
        kind=row[2],
        path=row[3],
        host=row[4],
        act=bool(row[5]),
        mark=None if row[6] is None else json.loads(row[6]),
        rules=row[7],
        observed_at=maybe_moment(row[8]),
    )
