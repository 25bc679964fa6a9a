"""Why was nothing done about a session?"""

from __future__ import annotations

from sexton.core.plan import Action, EndSession, ReapSession, Seen
from sexton.core.session import NATIVE, Session
from sexton.keeper.keeper_context import Estate
from sexton.keeper.recheck import GONE, TAKEN_UP
from sexton.resets.policy import is_for_size
from sexton.retention.model import AWAY

DONE = "it was done already"


def what_moved(estate: Estate, action: Action) -> str | None:
    """What has changed about an open session since it was seen; None if nothing has."""
    seen = action.seen
    found = estate.ledger.index.find(seen.home, seen.id)
    if not found:
        return GONE
    session = found[0]
    if not session.is_open:
        return f"it has ended already: {session.end_reason}"
    return _what_changed(session, seen)


def what_else(action: Action) -> str:
    """Why nothing was done about a session that is as it was seen."""
    match action:
        case ReapSession(seen=seen) if seen.home != NATIVE:
            return TAKEN_UP
        case EndSession(seen=seen, reason=reason) if seen.home != NATIVE:
            return TAKEN_UP if is_for_size(reason, seen.home) else DONE
        case _:
            return DONE


def what_keeps(estate: Estate, seen: Seen) -> str:
    """Why a session that was to be removed is not one that could be."""
    found = estate.ledger.index.find(seen.home, seen.id)
    if not found:
        return GONE
    session = found[0]
    if session.state in AWAY:
        return f"it is {session.state} already"
    if session.is_open:
        return "it is open again"
    return _what_changed(session, seen) or "what belongs to it has changed meanwhile"


def _what_changed(session: Session, seen: Seen) -> str | None:
    if session.epoch != seen.epoch:
        return "it was taken over meanwhile"
    if session.pinned != seen.pinned:
        return "it was pinned meanwhile" if session.pinned else "its pin was taken off meanwhile"
    if (session.message_count, session.turn_count) != (seen.message_count, seen.turn_count):
        return "it was active meanwhile"
    return None
