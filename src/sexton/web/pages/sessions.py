"""Which sessions are there?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from sexton.engine.estate import Estate
from sexton.engine.standing import Standing, standing_of
from sexton.model.record import record
from sexton.model.session import Session, State
from sexton.model.spend import Unit
from sexton.policies.budgets import shown
from sexton.ports import Filter, Place
from sexton.web.desk import Desk
from sexton.web.pages.forms import choice
from sexton.web.pages.showing import show
from sexton.web.tones import short

LIMIT = 50
CHUNK = 500
LONGEST = 1024
FARTHEST = 20_000
"""So many sessions are looked at for one page; who wants more goes on from there."""
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
    return Asked(**{name: given.get(name, "")[:LONGEST] for name in names})


def sessions(desk: Desk, asked: Asked) -> Response:
    """A page of sessions, newest activity first."""
    estate = desk.house.estate()
    found, place = _found(desk, estate, asked)
    return show(
        desk,
        "sessions.html",
        page="sessions",
        rows=[_row(estate, each) for each in found],
        chosen=asked,
        choices=_choices(desk, asked),
        older=None if place is None else asked.href(_cursor(place)),
        first=asked.href(),
        nothing=_nothing(asked, place),
        is_live=not asked.after,
    )


def _found(desk: Desk, estate: Estate, asked: Asked) -> tuple[list[Session], Place | None]:
    """The sessions of a page, and from where the next one goes on."""
    place = _place(asked, desk.house.clock.now())
    found: list[Session] = []
    for each in _looked_through(desk, asked, place):
        place = Place(each.active_at, each.ref)
        if _is_meant(estate, asked, each, desk.house.clock.now()):
            found.append(each)
            if len(found) == LIMIT:
                return found, place
    return found, None


def _looked_through(desk: Desk, asked: Asked, place: Place | None) -> Iterator[Session]:
    state = State.OPEN if choice(Standing, asked.state) else choice(State, asked.state)
    wanted = Filter(
        home=asked.home or None,
        source=asked.source or None,
        state=state,
        folded=True,
    )
    while page := desk.house.ledger.index.page(wanted, place, CHUNK):
        yield from page
        place = Place(page[-1].active_at, page[-1].ref)


def _is_meant(estate: Estate, asked: Asked, each: Session, now: datetime) -> bool:
    if asked.text and asked.text.lower() not in (each.title or "").lower():
        return False
    if choice(Standing, asked.state) and standing_of(estate, each) != asked.state:
        return False
    span = AGES.get(asked.age)
    return span is None or asked.age.startswith("silent") or now - each.active_at <= span[1]


def _place(asked: Asked, now: datetime) -> Place | None:
    at, _, ref = asked.after.partition("-")
    if at.isdecimal() and ref.isdecimal() and len(at) < 17 and len(ref) < 19:
        return Place(datetime.fromtimestamp(int(at) / 1e6, UTC), int(ref))
    if asked.age.startswith("silent") and asked.age in AGES:
        return Place(now - AGES[asked.age][1], 2**62)
    return None


def _cursor(place: Place) -> str:
    return f"{int(place.at.timestamp() * 1e6)}-{place.ref}"


def _row(estate: Estate, each: Session) -> Mapping[str, Any]:
    word = standing_of(estate, each).value if each.is_open else each.state.value
    spent = each.usage.cost_micros
    tokens = f"{short(each.usage.tokens)} tokens" if each.usage.tokens else "–"
    return {
        "ref": each.ref,
        "home": each.home,
        "id": each.id,
        "name": each.name,
        "title": each.title or each.preview,
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
    return {
        "homes": [("", "all homes"), *((each, each) for each in homes)],
        "sources": [("", "any"), *([(asked.source, asked.source)] if asked.source else [])],
        "states": [
            ("", "any"),
            *((each.value, f"open: {each.value}") for each in Standing),
            *((each.value, each.value) for each in State),
        ],
        "ages": [("", "any time"), *((key, words) for key, (words, _) in AGES.items())],
        "sorts": [("", "newest activity")],
    }


def _nothing(asked: Asked, place: Place | None) -> Mapping[str, str]:
    del place
    if asked.is_narrow or asked.after:
        return {"head": "No such sessions", "words": "Nothing in this ledger matches."}
    words = "An agent that opens this ledger brings its own; 'sexton doctor PATH' those of Hermes."
    return {"head": "No sessions yet", "words": words}
