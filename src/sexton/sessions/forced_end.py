"""How does a session end that may not go on?"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import TypeAlias

from sexton.core.plan import Reason
from sexton.core.session import Session
from sexton.errors import HomeError, LedgerError
from sexton.sessions.worker_context import Desk

EndInHome: TypeAlias = Callable[[Session, Reason], datetime | None]
"""Ends a session in the home that keeps it; when that was, or None if it was not open there."""


def end_for(
    desk: Desk, session: Session, reason: Reason, in_home: EndInHome | None, *, forced: bool
) -> None:
    """End a session for that reason; without force only if it rests and is not pinned.

    One that another program's home keeps ends there first: the ledger goes by its home.
    """
    found = desk.ledger.index.find(session.home, session.id)
    if found and not forced and (found[0].pinned or _is_busy(found[0])):
        return  # the next turn asks again
    entry, now = desk.entry(session, "end", reason), desk.clock.now()
    if in_home is not None:
        try:
            ended_at = in_home(session, reason)
        except HomeError:  # what asked for the end refuses all the same, and asks again
            return
        if ended_at is None:
            return
        now = ended_at
    if desk.ledger.book.end_now(session, reason.code, now, entry) and forced:
        with suppress(LedgerError):  # it has ended, and a keeper sees to what it left
            desk.stop_processes(session)


def _is_busy(session: Session) -> bool:
    return any(holder.busy_since for holder in session.holders)
