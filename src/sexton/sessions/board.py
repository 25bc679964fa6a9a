"""Questions about many sessions at once, answered step by step along an index."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from sexton.core.plan import JournalEntry
from sexton.core.record import record
from sexton.core.session import Session, State
from sexton.errors import InputInvalid
from sexton.sessions.index import with_holders
from sexton.sessions.model import Place
from sexton.store import rows
from sexton.store.database import Database, Transaction
from sexton.store.rows import maybe_moment, micros, moment


@record
class Search:
    """Which sessions are looked for; None means any.

    `text` is a part of the title, whatever the case of its Latin letters. `folded` leaves out those
    that were compressed: the newest of a chain stands for all of it.
    """

    home: str | None = None
    source: str | None = None
    state: State | None = None
    text: str | None = None
    active_since: datetime | None = None
    active_before: datetime | None = None
    folded: bool = True


class Order(StrEnum):
    """What comes first: the latest activity, the latest start, or the biggest."""

    ACTIVE = "active"
    STARTED = "started"
    SIZE = "size"


class Spot(NamedTuple):
    """Where a search goes on: behind this value of the order, and this row of equals."""

    value: int
    ref: int


@record
class Found:
    """What a search came across, with holders, and where it goes on; None at the end.

    A search looks at so many sessions and no more: with few or none found there may be others.
    """

    sessions: Sequence[Session]
    rest: Spot | None


class Live(NamedTuple):
    """An open session and who holds it: workers, and since when each is busy."""

    ref: int
    home: str
    id: str
    source: str
    title: str | None
    active_at: datetime
    started_at: datetime
    holders: tuple[tuple[str, datetime | None], ...]


class Spent(NamedTuple):
    """What sessions that were active have cost so far: how many, millionths of a dollar, tokens."""

    sessions: int
    cost_micros: int
    tokens: int


class Figure(NamedTuple):
    """What was counted under a name at one moment."""

    name: str
    at: datetime
    value: int


FEW = 2000
"""So many sessions of a state or source are fetched and sorted at once."""
STEPS = (250, 1000, 4000, 16_000, 40_000)
"""How many sessions of a home a search looks at, step by step, until it has found enough."""
MOST_LOOKED_AT = {Order.ACTIVE: 60_000, Order.STARTED: 60_000, Order.SIZE: 15_000}
"""So many sessions of all homes a search looks at, and says then that there may be more.

Neighbours by size are anywhere on the disk.
"""
MOST_SORTED = 50_000
_END = 2**62
_COLUMN = {Order.ACTIVE: 12, Order.STARTED: 11, Order.SIZE: 17}
_ESCAPED = str.maketrans({"!": "!!", "%": "!%", "_": "!_"})
_LOWER = str.maketrans({chr(code): chr(code + 32) for code in range(ord("A"), ord("Z") + 1)})


class _Asked(NamedTuple):
    """What is looked for in each home, from where on, and at how many sessions at most."""

    order: Order
    values: Mapping[str, Any]
    start: Spot
    limit: int
    most: int


class _Part(NamedTuple):
    """What was found in one home, and how far it was looked through; None: to its end."""

    rows: list[rows.Row]
    seen_to: Spot | None


class LedgerBoard:
    """Questions about many sessions at once; each costs about the same however many there are."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def search(self, wanted: Search, order: Order, after: Spot | None, limit: int) -> Found:
        """Sessions of all homes in an order, the first ones first.

        They are looked for in each home, and merged as far as all of them were looked through.
        InputInvalid if very many are open and are to be sorted by size.
        """
        values = _values(wanted)
        start = after or Spot(_END, _END)

        def job(tx: Transaction) -> Found:
            tx.all("by_values")
            homes = [each for each in tx.all("all_homes") if wanted.home in (None, each[1])]
            asked = _Asked(order, values, start, limit, MOST_LOOKED_AT[order] // max(1, len(homes)))
            parts = [_search(tx, home[0], asked) for home in homes]
            edges = [part.seen_to for part in parts if part.seen_to is not None]
            edge = max(edges, default=None)
            found = sorted(
                (row for part in parts for row in part.rows),
                key=lambda row: _spot(row, order),
                reverse=True,
            )
            if edge is not None:
                found = [row for row in found if _spot(row, order) >= edge]
            page = found[:limit]
            rest = _spot(page[-1], order) if len(found) >= limit else edge
            return Found(sessions=with_holders(tx, page), rest=rest)

        return self._database.read(job)

    def sources(self, limit: int) -> list[str]:
        """Where sessions come from."""

        def job(tx: Transaction) -> set[str]:
            return {
                source
                for home in tx.all("all_homes")
                for state in State
                for (source,) in tx.all("known_sources", home=home[0], state=state, limit=limit)
            }

        return sorted(self._database.read(job))[:limit]

    def live(self, limit: int) -> list[Live]:
        """Open sessions of all homes, latest activity first."""

        def job(tx: Transaction) -> list[Live]:
            return [each for home in tx.all("all_homes") for each in _live(tx, home, limit)]

        found = sorted(self._database.read(job), key=_latest, reverse=True)
        return found[:limit]

    def children(self, home: str, id: str, after: Place | None, limit: int) -> list[Session]:
        """The sessions that came of one, in the order they were started."""

        def job(tx: Transaction) -> list[Session]:
            found = tx.all(
                "children_of",
                home=home,
                parent=id,
                started_at=-_END if after is None else micros(after.at),
                ref=0 if after is None else after.ref,
                limit=limit,
            )
            return with_holders(tx, found)

        return self._database.read(job)

    def journal_since(self, after: int, limit: int) -> list[JournalEntry]:
        """Entries behind one, oldest first; of two that are written together either may be late."""
        found = self._database.read(lambda tx: tx.all("journal_since", after=after, limit=limit))
        return [rows.journal_entry(row) for row in found]

    def newest_entry(self) -> int:
        """The last entry of the journal; 0 if there is none."""
        ((newest,),) = self._database.read(lambda tx: tx.all("newest_entry"))
        return int(newest)


def _values(wanted: Search) -> dict[str, Any]:
    text = None if wanted.text is None else wanted.text.translate(_LOWER).translate(_ESCAPED)
    since, before = wanted.active_since, wanted.active_before
    return {
        "source": wanted.source,
        "state": wanted.state,
        "pattern": None if text is None else f"%{text}%",
        "since": -_END if since is None else micros(since),
        "until": _END if before is None else micros(before),
        "folded": int(wanted.folded),
    }


def _search(tx: Transaction, home: int, asked: _Asked) -> _Part:
    few = _few(tx, home, asked.values)
    if few is not None:
        found = tx.all("search_few", refs=json.dumps(few), **asked.values) if few else []
        spots = sorted(((_spot(row, asked.order), row) for row in found), reverse=True)
        return _Part([row for spot, row in spots if spot < asked.start][: asked.limit], None)
    return _walk(tx, home, asked)


def _few(tx: Transaction, home: int, values: Mapping[str, Any]) -> list[int] | None:
    """The rows of a state or source, if they are few enough to be looked at all."""
    source, state = values["source"], values["state"]
    if source is None and state is None:
        return None
    name = "few_of_state" if source is None else "few_of_source"
    more = {} if source is None else {"source": source}
    found: list[int] = []
    for each in State if state is None else (state,):
        left = FEW + 1 - len(found)
        found += [row[0] for row in tx.all(name, home=home, state=each, limit=left, **more)]
        if len(found) > FEW:
            return None
    return found


def _walk(tx: Transaction, home: int, asked: _Asked) -> _Part:
    """Look through one home along the index of the order, in steps that grow."""
    order, values, place = asked.order, asked.values, asked.start
    if order is Order.ACTIVE:
        place = min(place, Spot(values["until"], 0))
    found = _open_by_size(tx, home, asked) if order is Order.SIZE else []
    over = 0
    for steps in steps_within(asked.most):
        bound = tx.one(
            f"bound_{order}", home=home, value=place.value, ref=place.ref, steps=steps - 1
        )
        low = Spot(-_END, 0) if bound is None else Spot(*bound)
        more = tx.all(
            f"search_{order}",
            home=home,
            value=place.value,
            ref=place.ref,
            low=low.value,
            low_ref=low.ref,
            limit=asked.limit - over,
            **values,
        )
        found += more
        over += len(more)
        is_past = order is Order.ACTIVE and low.value < values["since"]
        if bound is None or is_past:
            return _Part(found, None)
        place = low
        if over >= asked.limit:
            break
    return _Part(found, place)


def steps_within(most: int) -> Iterator[int]:
    """The steps, as far as they are not too many together; the first is always taken."""
    for step in STEPS:
        yield max(1, min(step, most))
        most -= step
        if most <= 0:
            return


def _open_by_size(tx: Transaction, home: int, asked: _Asked) -> list[rows.Row]:
    """Open sessions, which no index has by size: sorted as long as they are not too many."""
    values, start = asked.values, asked.start
    if values["state"] not in (None, State.OPEN):
        return []
    still = tx.all("few_of_state", home=home, state=State.OPEN, limit=MOST_SORTED + 1)
    if len(still) > MOST_SORTED:
        raise InputInvalid(
            f"more than {MOST_SORTED} open sessions of a home are not sorted by size",
            hint="Ask for those that have ended, or of one source, or sort by activity.",
        )
    given = {"value": start.value, "ref": start.ref, "limit": asked.limit}
    return tx.all("search_size_open", home=home, **given, **values)


def _spot(row: rows.Row, order: Order) -> Spot:
    return Spot(row[_COLUMN[order]], row[0])


def _live(tx: Transaction, home: rows.Row, limit: int) -> list[Live]:
    still = tx.all("few_of_state", home=home[0], state=State.OPEN, limit=MOST_SORTED + 1)
    name = "live_sessions" if len(still) <= MOST_SORTED else "live_among_many"
    found = tx.all(name, home=home[0], limit=limit)
    held: defaultdict[int, list[tuple[str, datetime | None]]] = defaultdict(list)
    refs = json.dumps([row[0] for row in found])
    for session, worker, busy_since in tx.all("live_holders", refs=refs):
        held[session].append((worker, maybe_moment(busy_since)))
    return [
        Live(ref, home[1], id, source, title, moment(active), moment(started), tuple(held[ref]))
        for ref, id, source, title, active, started in found
    ]


def _latest(each: Live) -> tuple[datetime, int]:
    return each.active_at, each.ref
