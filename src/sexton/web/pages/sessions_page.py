"""Which sessions are there?"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from sexton.core.record import record
from sexton.core.session import Session, State
from sexton.keeper.keeper_context import Estate
from sexton.liveness.standing import Standing, standing_of
from sexton.operations.cursors import read_spot, write_spot
from sexton.sessions.board import Found, Order, Search, Spot
from sexton.spending.budgets import shown
from sexton.spending.model import Unit
from sexton.web.desk import Desk
from sexton.web.pages.forms import choice, storable
from sexton.web.pages.showing import show
from sexton.web.tones import short

LIMIT = 50
CHUNK = 200
FARTHEST = 10
LONGEST = 0.1
"""So many times, and for so many seconds, is gone on for one page; who wants more goes on there."""
SOURCES = 100
_EPOCH, _TICK = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
AGES = {
    "1h": ("in the last hour", timedelta(hours=1)),
    "1d": ("in the last day", timedelta(days=1)),
    "7d": ("in the last week", timedelta(days=7)),
    "silent-1d": ("not for a day", timedelta(days=1)),
    "silent-7d": ("not for a week", timedelta(days=7)),
    "silent-30d": ("not for a month", timedelta(days=30)),
}


@record
class Asked:
    """What a person wants to see; empty means any."""

    home: str = ""
    source: str = ""
    state: str = ""
    age: str = ""
    text: str = ""
    sort: str = ""
    after: str = ""

    @property
    def is_narrow(self) -> bool:
        return any((self.home, self.source, self.state, self.age, self.text))

    @property
    def told(self) -> str:
        """What is shown, for who can not see the form."""
        names = ("home", "source", "state", "age", "text")
        chosen = [f"{name} {value}" for name in names if (value := getattr(self, name))]
        return ", ".join(chosen) or "all"

    def href(self, after: str = "") -> str:
        """Where these sessions are, from a place on."""
        names = ("home", "source", "state", "age", "text", "sort")
        kept = {name: value for name in names if (value := getattr(self, name))}
        asked = {**kept, "after": after} if after else kept
        return "/sessions?" + urlencode(asked, errors="replace") if asked else "/sessions"


def asked_by(given: Mapping[str, str]) -> Asked:
    """What the address of a page asks for; words that mean nothing are left out."""
    names = ("home", "source", "state", "age", "text", "sort", "after")
    return Asked(**{name: storable(given.get(name, "")) for name in names})


def sessions(desk: Desk, asked: Asked) -> Response:
    """A page of sessions in the order that was asked for."""
    estate = desk.lookout.estate()
    found = _found(desk, estate, asked)
    older = write_spot(found.rest)
    return show(
        desk,
        "sessions.html",
        page="sessions",
        rows=[_row(estate, each) for each in found.sessions],
        chosen=asked,
        choices=_choices(desk, asked),
        older=None if older is None else asked.href(older),
        first=asked.href(),
        nothing=_nothing(asked, more=older is not None),
        is_live=not asked.after,
    )


def _found(desk: Desk, estate: Estate, asked: Asked) -> Found:
    """The sessions of a page; a standing is told of open ones only, a few pages at a time."""
    search, order = _search(desk, asked), choice(Order, asked.sort) or Order.ACTIVE
    spot = read_spot(asked.after) if asked.after else None
    standing, board = choice(Standing, asked.state), desk.house.ledger.board
    if standing is None:
        return board.search(search, order, spot, LIMIT)
    kept: list[Session] = []
    clock = desk.house.clock
    began = clock.monotonic()
    for _ in range(FARTHEST):
        found = board.search(search, order, spot, CHUNK)
        spot = found.rest
        for each in found.sessions:
            if standing_of(estate, each) is standing:
                kept.append(each)
                if len(kept) == LIMIT:
                    return Found(sessions=kept, rest=_spot(each, order))
        if spot is None or clock.monotonic() - began > LONGEST:
            break
    return Found(sessions=kept, rest=spot)


def _search(desk: Desk, asked: Asked) -> Search:
    now, (_, span) = desk.house.clock.now(), AGES.get(asked.age, ("", timedelta(0)))
    is_silent = asked.age.startswith("silent")
    state = State.OPEN if choice(Standing, asked.state) else choice(State, asked.state)
    return Search(
        home=asked.home or None,
        source=asked.source or None,
        state=state,
        text=asked.text or None,
        active_since=now - span if span and not is_silent else None,
        active_before=now - span if span and is_silent else None,
    )


def _spot(each: Session, order: Order) -> Spot:
    match order:
        case Order.ACTIVE:
            return Spot((each.active_at - _EPOCH) // _TICK, each.ref)
        case Order.STARTED:
            return Spot((each.started_at - _EPOCH) // _TICK, each.ref)
        case Order.SIZE:
            return Spot(each.byte_count, each.ref)


def _row(estate: Estate, each: Session) -> Mapping[str, Any]:
    word = standing_of(estate, each).value if each.is_open else each.state.value
    spent = each.usage.cost_micros
    tokens = f"{short(each.usage.tokens)} tokens" if each.usage.tokens else "–"
    return {
        "ref": each.ref,
        "home": each.home,
        "id": each.id,
        "name": each.name,
        "title": each.title or estate.content.session(each).preview,
        "parent": each.parent,
        "relation": each.relation,
        "word": word,
        "says": word if each.is_open else f"{word}: {each.end_reason or 'no reason'}",
        "pinned": each.pinned,
        "source": each.source,
        "active_at": each.active_at,
        "messages": each.message_count,
        "bytes": each.byte_count,
        "spent": shown(Unit.USD, spent) if spent else tokens,
    }


def _choices(desk: Desk, asked: Asked) -> Mapping[str, Any]:
    homes = [each.name for each in desk.house.ledger.homes.all()]
    sources = desk.house.ledger.board.sources(SOURCES)
    known = sources if asked.source in ("", *sources) else [*sources, asked.source]
    return {
        "homes": [("", "all homes"), *((each, each) for each in homes)],
        "sources": [("", "any"), *((each, each) for each in known)],
        "states": [
            ("", "any"),
            *((each.value, f"open: {each.value}") for each in Standing),
            *((each.value, each.value) for each in State),
        ],
        "ages": [("", "any time"), *((key, words) for key, (words, _) in AGES.items())],
        "sorts": [("", "newest activity"), ("started", "newest start"), ("size", "biggest")],
    }


def _nothing(asked: Asked, *, more: bool) -> Mapping[str, str]:
    if more:
        words = "None of the sessions that were looked through matches; there are more to look at."
        return {"head": "Nothing found so far", "words": words}
    if asked.is_narrow or asked.after:
        return {"head": "No such sessions", "words": "Nothing in this ledger matches."}
    words = "An agent that opens this ledger brings its own; 'sexton doctor PATH' those of Hermes."
    return {"head": "No sessions yet", "words": words}
