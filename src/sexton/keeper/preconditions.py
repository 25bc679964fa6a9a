"""How is a session remembered, so that it can be told whether it has moved on since?"""

from __future__ import annotations

from sexton.core.plan import Seen
from sexton.core.session import Session


def as_seen(session: Session) -> Seen:
    """The session as a precondition."""
    return Seen(
        ref=session.ref,
        home=session.home,
        id=session.id,
        epoch=session.epoch,
        active_at=session.active_at,
        message_count=session.message_count,
        turn_count=session.turn_count,
        pinned=session.pinned,
    )
