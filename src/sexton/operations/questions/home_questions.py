"""Which homes are there?"""

from __future__ import annotations

from typing_extensions import TypedDict

from sexton.core.wording import iso
from sexton.errors import NoSuchHome
from sexton.homes.home_ports import HomeRecord
from sexton.operations.asker import Asker
from sexton.operations.said import Moment

MOST_SOURCES = 200


class Home(TypedDict):
    """A place where an agent keeps its sessions."""

    name: str
    kind: str
    path: str | None
    host: str | None
    act: bool
    observed_at: Moment | None


class Homes(TypedDict):
    """Where agents keep sessions, and the sources these come from."""

    items: list[Home]
    sources: list[str]
    next: None


def homes(asker: Asker) -> Homes:
    """Where agents keep sessions, as far as the ledger knows, and the sources these come from."""
    ledger = asker.house.ledger
    items = [home_record(each) for each in ledger.homes.all()]
    return {"items": items, "sources": ledger.board.sources(MOST_SOURCES), "next": None}


def home_record(each: HomeRecord) -> Home:
    """A home as the ledger knows it."""
    return {
        "name": each.name,
        "kind": each.kind,
        "path": each.path,
        "host": each.host,
        "act": each.act,
        "observed_at": iso(each.observed_at),
    }


def check_home(asker: Asker, name: str | None) -> None:
    """Raise NoSuchHome unless the ledger or the settings know a home of that name."""
    if not name:
        return
    known = [each.name for each in asker.house.ledger.homes.all()]
    known += [each.name for each in asker.house.settings.homes]
    if name not in known:
        names = ", ".join(dict.fromkeys(known))
        raise NoSuchHome(f"no home is called '{name}'", hint=f"Name one of: {names}.")
