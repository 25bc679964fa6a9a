"""What keeps a session from being removed, whoever asks for it?"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from sexton.core.plan import Reason
from sexton.core.record import record
from sexton.core.session import State
from sexton.retention.model import HERE, Member
from sexton.sessions.family import Family

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


@record
class Keeping:
    """What keeps a session, and the same in words that fit many sessions."""

    reason: Reason
    plainly: str


def held_by(
    talk: Iterable[Member], family: Family, now: datetime, *, archiving: bool
) -> Keeping | None:
    """What keeps a conversation, whatever the policy says."""
    members = list(talk)
    for each in members:
        if each.state in HERE or each.state == "open":
            kept = shield(each, now, archiving=archiving)
            if kept is not None:
                return Keeping(reason=kept, plainly=kept.text)
    child = family.open_below(members)
    if child is None:
        return None
    reason = Reason("open_child", f"its child {child.id} is open")
    return Keeping(reason=reason, plainly="a child of it is open")
