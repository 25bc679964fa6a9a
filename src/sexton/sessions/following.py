"""Where does a conversation go on that was compressed?"""

from __future__ import annotations

from sexton.core.record import replace
from sexton.core.session import Session
from sexton.sessions.worker_context import Desk


def following(desk: Desk, session: Session) -> Session | None:
    """Where the conversation goes on if the session was compressed, under the same epoch.

    Whoever had lost the session before it was compressed has lost its child, too.
    """
    tip = desk.ledger.compression.tip(session.ref)
    # A child is younger: whoever follows comes to an end, whatever is read.
    return None if tip is None or tip.ref <= session.ref else replace(tip, epoch=session.epoch)
