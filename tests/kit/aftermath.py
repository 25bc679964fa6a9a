"""After workers have died and one keeper has swept: is everything as it must be?"""

from __future__ import annotations

from collections.abc import Iterable

from sexton.core.session import Session
from sexton.store.ledger import Ledger

ENDINGS = ("end", "reap")
MOST = 1000


def assert_nobody_dead_holds_anything(ledger: Ledger, dead: Iterable[str]) -> None:
    """No session is left to a worker that is dead."""
    for worker in dead:
        left = [f"{each.source} {each.id}" for each in ledger.reaping.sessions_of(worker)]
        assert not left, f"the dead worker {worker} still holds {left}"


def assert_ended_once(ledger: Ledger, session: Session) -> None:
    """The session has ended, and the journal tells of one end for every time it was begun."""
    told = [line.action for line in ledger.journal.page(session, None, None, MOST)]
    assert not session.is_open, f"{session.source} {session.id} is still open"
    ends, revivals = sum(told.count(each) for each in ENDINGS), told.count("revive")
    assert ends == revivals + 1, f"{session.id} was begun {revivals + 1} times and ended {ends}"


def assert_lives_on(ledger: Ledger, session: Session, holders: Iterable[str]) -> None:
    """The session is open, exactly these workers hold it, and nobody has ever ended it."""
    told = [line.action for line in ledger.journal.page(session, None, None, MOST)]
    assert session.is_open, f"{session.source} {session.id} has ended: {session.end_reason}"
    held = {each.worker.id for each in session.holders}
    assert held == set(holders), f"{session.id} is held by {held}, not by {set(holders)}"
    assert not set(told) & {*ENDINGS, "revive"}, f"{session.id}: {told}"
