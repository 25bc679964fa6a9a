"""Who owns the open sessions of one Hermes home right now?"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import apsw

from sexton.core.machine_ports import Clock
from sexton.homes.hermes.fingerprint import recognise
from sexton.homes.hermes.hermes_claims import Claims, claims_in, executions_of
from sexton.homes.hermes.hermes_database import read
from sexton.homes.hermes.holders import Census, take_census
from sexton.homes.hermes.owners import OpenRow, owners, rows_of
from sexton.liveness.evidence import Evidence


class Ownership:
    """Asks the home and the kernel about owners."""

    def __init__(self, home: Path, database: Path, clock: Clock) -> None:
        self._home = home
        self._database = database
        self._clock = clock

    def census(self, *, quick: bool = False) -> Census:
        """Who has the database open now."""
        return take_census(self._home, self._database, quick=quick)

    def evidence(self, ids: Collection[str], census: Census | None = None) -> dict[str, Evidence]:
        """What is known about the owners of those sessions; nothing of sessions that are not there.

        The rows are read after the census, so that whoever came meanwhile is not taken for absent:
        a new session is not among the ids, and an old one that was taken up shows it.
        """
        if not ids:
            return {}
        census = census or self.census()
        rows, claims = read(self._database, lambda db: self._ask(db, ids))
        claims = replace(claims, executions=executions_of(self._home))
        return owners(ids, rows, claims, census)

    def conversations(self, db: apsw.Connection, ids: Collection[str]) -> frozenset[str]:
        """Which of the sessions are conversations of the gateway."""
        rows, claims = self._ask(db, ids)
        return frozenset(id for id in ids if id in rows and rows[id].is_conversation(claims.routed))

    def _ask(self, db: apsw.Connection, ids: Collection[str]) -> tuple[dict[str, OpenRow], Claims]:
        shape = recognise(db, self._database)
        now = self._clock.now().timestamp()
        return rows_of(db, shape, ids), claims_in(db, shape, self._home, now)
