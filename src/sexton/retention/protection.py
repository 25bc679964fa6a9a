"""What keeps a session from being removed, whoever asks for it?"""

from __future__ import annotations

from datetime import datetime, timedelta

from sexton.core.plan import Reason
from sexton.core.session import State
from sexton.retention.model import Member

SPARED = timedelta(days=30)
"""For so long end-of-session work that was given up can be taken up again from what was said."""


def shield(member: Member, now: datetime, *, archiving: bool = False) -> Reason | None:
    """Why the session must stay as it is, or None if it may be removed.

    An archive can still be read by whoever does the work again, the trash is not for long.
    """
    if member.state is State.OPEN:
        return Reason("open", "it is open")
    if member.held:
        return Reason("held", "somebody holds it")
    if member.pinned:
        return Reason("pinned", "it is pinned")
    if member.owed:
        return Reason("unfinalized", "its end-of-session work is not done yet")
    if not archiving and _was_given_up_lately(member, now):
        text = f"its end-of-session work was given up less than {SPARED.days} days ago"
        return Reason("dead_letter", text)
    return None


def _was_given_up_lately(member: Member, now: datetime) -> bool:
    return member.given_up_at is not None and member.given_up_at > now - SPARED
