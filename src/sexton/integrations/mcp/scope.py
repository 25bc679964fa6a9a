"""Whose sessions may this caller ask about?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from sexton.core.session import NATIVE, Session
from sexton.errors import InputInvalid, SessionNotFound
from sexton.processes.foreign_processes import proved
from sexton.processes.model import TAG_VARIABLE, Process, tags_in
from sexton.sessions.model import Filter
from sexton.wiring import Sexton
from sexton.wiring.reaching import everywhere

NEWEST = 50
"""So many sessions are told of when somebody may see all of them."""
MOST = 500
"""So many sessions of one tree are told of."""


class Scope(Protocol):
    """What a caller may see and change."""

    is_agent: bool
    """Whether it speaks for itself, and not for a person who decides."""

    def sessions(self) -> list[Session]:
        """The caller's sessions, its own first."""

    def session(self, name: str | None) -> Session:
        """One of them, its own if none is named; an error where it is not the caller's."""

    def processes(self) -> list[Process]:
        """The processes of its sessions that are not known to have ended."""


class Operator:
    """Somebody who looks after all sessions."""

    is_agent = False

    def __init__(self, house: Sexton) -> None:
        self._house = house

    def sessions(self) -> list[Session]:
        return self._house.ledger.index.page(Filter(), None, NEWEST)

    def session(self, name: str | None) -> Session:
        if name is None:
            raise InputInvalid("an operator has no session of his own", hint="Name a session.")
        return self._house.find(name)

    def processes(self) -> list[Process]:
        registered = self._house.ledger.registry.running()
        return [*registered, *_named_by_homes(self._house)]


class Caller:
    """An agent that is in a session: that one, all that came of it, and nothing else."""

    is_agent = True

    def __init__(self, house: Sexton, who: Callable[[], Session]) -> None:
        self._house = house
        self._who = who

    def sessions(self) -> list[Session]:
        own = self._who()
        found = {own.id: own}
        newest = [own.id]
        while newest and len(found) < MOST:
            below = self._house.ledger.removable.relatives(own.home, named=(), below=newest)
            newest = [each.id for each in below if each.id not in found]
            for id in newest:
                found |= {each.id: each for each in self._house.ledger.index.find(own.home, id)}
        return list(found.values())

    def session(self, name: str | None) -> Session:
        if name is None:
            return self._who()
        for each in self.sessions():
            if name in (each.id, each.name, f"{each.home}/{each.id}"):
                return each
        # The same words whether there is such a session or not: what others have is not told.
        raise SessionNotFound(
            f"no session '{name}' is yours", hint="Ask for your sessions, and name one of those."
        )

    def processes(self) -> list[Process]:
        registry, mine = self._house.ledger.registry, self.sessions()
        found = [process for each in mine for process in registry.of_session(each.ref)]
        names = {(each.home, each.id) for each in mine}
        named = _named_by_homes(self._house) if any(home != NATIVE for home, _ in names) else ()
        return [*found, *(each for each in named if (each.home, each.session) in names)]


def _named_by_homes(house: Sexton) -> list[Process]:
    """What homes name beside the registered, each proved to be the one they started."""
    estate = everywhere(house)
    found = estate.named(house.ledger.registry.running())
    return [proved(estate.overseer, estate.clock, each) for each in found]


def named(house: Sexton, name: str) -> Callable[[], Session]:
    """The session of that name, wherever its conversation goes on."""
    house.find(name)  # what nobody has is told at the start
    return lambda: _as_it_goes_on(house, house.find(name))


def of_key(house: Sexton, key: str) -> Callable[[], Session]:
    """The session a key has when it is asked for."""

    def who() -> Session:
        found = house.ledger.book.current(key)
        last = [found] if found else house.ledger.index.page(Filter(home=NATIVE, key=key), None, 1)
        if not last:
            raise SessionNotFound(f"the key '{key}' has no session yet")
        return last[0]

    return who


def of_tag(house: Sexton, environ: Mapping[str, str]) -> Callable[[], Session]:
    """The session that this process was started for, by the tag in its environment."""
    tags = tags_in(environ.get(TAG_VARIABLE, ""))
    # The last tag is the nearest: what it was started by may itself belong to another session.
    for tag in reversed([each for each in tags if each]):
        for process in house.ledger.registry.running():
            if process.tag == tag:
                return named(house, f"{process.home}/{process.session}")
    raise InputInvalid(
        "it is not known whose sessions are asked about",
        hint="Name one with --session or --key, or see all of them with --operator.",
    )


def _as_it_goes_on(house: Sexton, session: Session) -> Session:
    if session.is_open:
        return session
    tip = house.ledger.compression.tip(session.ref)
    if tip is not None:
        session = tip
    if session.is_open or session.key is None or session.home != NATIVE:
        return session
    return house.ledger.book.current(session.key) or session
