"""What changed in a Hermes home since the last look?"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

import apsw

from sexton.core.session import Session
from sexton.homes.hermes import statements
from sexton.homes.hermes.facts import name_of, session_of
from sexton.homes.hermes.fingerprint import Shape, recognise
from sexton.homes.hermes.mark import Mark, Watermarks
from sexton.homes.hermes.statements import MessageTally, SessionRow, SpendTally

# Newer homes note activity once a minute at most; a little overlap costs nothing.
ACTIVITY_OVERLAP = 120.0

Tally = TypeVar("Tally", MessageTally, SpendTally)


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """Where the tables end now, the ids that changed, and all ids if they have to be compared."""

    water: Watermarks
    changed: frozenset[str]
    ids: frozenset[str] | None
    full: bool


def survey(
    db: apsw.Connection, where: object, mark: Mark | None, believed_open: frozenset[str]
) -> Survey:
    """Find out what changed since the mark, or that everything has to be looked through."""
    shape = recognise(db, where)
    water = _watermarks(db, shape)
    if mark is None or water.message < mark.water.message:
        ids = frozenset(_ids(db, statements.ALL_IDS))
        return Survey(water=water, changed=ids, ids=ids, full=True)
    fresh = frozenset(_ids(db, statements.NEWER_IDS, rowid=mark.water.rowid))
    changed = fresh.union(_ids(db, statements.WRITTEN_SINCE, message=mark.trail))
    if "last_seen" in shape.usage:
        changed = changed.union(_ids(db, statements.SPENT_SINCE, spent=mark.water.spent))
    since = mark.looked_at.timestamp() - ACTIVITY_OVERLAP
    # A reopened session shows itself by its next message.
    moved = _ids(db, statements.moved_on(shape), ids=_json(believed_open), since=since)
    drifted = _drifted(db, mark.water, water, len(fresh))
    return Survey(
        water=water,
        changed=changed.union(moved),
        ids=frozenset(_ids(db, statements.ALL_IDS)) if drifted else None,
        full=False,
    )


class Page(NamedTuple):
    """The rows behind some sessions, as they were at one moment."""

    rows: list[SessionRow]
    said: dict[str, MessageTally]
    spent: dict[str, SpendTally]
    first_words: dict[int, bytes]


def page(db: apsw.Connection, where: object, ids: Iterable[str]) -> Page:
    """Fetch the rows of the sessions with those ids, as far as they exist."""
    shape = recognise(db, where)
    wanted = {"ids": _json(ids)}
    said = _tallied(MessageTally, db.execute(statements.tally_messages(shape), wanted))
    spend = statements.tally_spend(shape)
    return Page(
        rows=[SessionRow(*row) for row in db.execute(statements.select_sessions(shape), wanted)],
        said=said,
        spent=_tallied(SpendTally, db.execute(spend, wanted)) if spend else {},
        first_words=_first_words(db, said.values()),
    )


def sessions_in(
    page: Page, home: str, now: datetime, known: Mapping[str, datetime] | None = None
) -> Iterator[Session]:
    """The facts about the sessions of a page.

    `known` says when a session without any believable time was taken to be active before.
    """
    for row in page.rows:
        id = name_of(row.id)
        if id is not None:
            said = page.said.get(id) or MessageTally(id)
            spent = page.spent.get(id) or SpendTally(id)
            first_words = page.first_words.get(said.first_from_user or 0)
            at = (known or {}).get(id, now)
            yield session_of(home, row, said, spent, first_words, at)


def _watermarks(db: apsw.Connection, shape: Shape) -> Watermarks:
    rowid, last_id = _row(db, statements.LAST_ROW) or (0, None)
    (spent,) = _row(db, statements.LAST_SPENT) if "last_seen" in shape.usage else (0,)
    return Watermarks(
        message=max(_row(db, statements.LAST_MESSAGE)[0], _last_number(db)),
        rowid=rowid,
        last_id=name_of(last_id) or "",
        sessions=_row(db, statements.COUNT_SESSIONS)[0],
        spent=float(spent or 0),
    )


def _last_number(db: apsw.Connection) -> int:
    if not db.table_exists("main", "sqlite_sequence"):
        return 0
    (number,) = _row(db, statements.LAST_NUMBER) or (0,)
    return int(number or 0)


def _drifted(db: apsw.Connection, before: Watermarks, now: Watermarks, fresh: int) -> bool:
    """Whether sessions vanished, or their rows were given out again or numbered anew."""
    last_id = next(_ids(db, statements.ID_AT, rowid=before.rowid), "")
    return now.sessions != before.sessions + fresh or last_id != before.last_id


def _first_words(db: apsw.Connection, tallies: Iterable[MessageTally]) -> dict[int, bytes]:
    firsts = [tally.first_from_user for tally in tallies if tally.first_from_user is not None]
    rows: list[Any] = db.execute(
        statements.FIRST_WORDS, {"messages": json.dumps(firsts)}
    ).fetchall()
    return dict(rows)


def _tallied(kind: type[Tally], rows: Iterable[tuple[Any, ...]]) -> dict[str, Tally]:
    return {row[0]: kind(*row) for row in rows}


def _ids(db: apsw.Connection, sql: str, **values: int | float | str) -> Iterator[str]:
    rows: list[Any] = db.execute(sql, values).fetchall()
    for (raw,) in rows:
        id = name_of(raw)
        if id is not None:
            yield id


def _row(db: apsw.Connection, sql: str) -> tuple[Any, ...]:
    """The one row of an answer, or an empty one."""
    return next(iter(db.execute(sql).fetchall()), ())


def _json(ids: Iterable[str]) -> str:
    return json.dumps(sorted(ids))
