"""What keeps a conversation from being removed, for people and for sums?"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sexton.core.plan import Reason
from sexton.core.record import record
from sexton.retention.model import HERE, Member
from sexton.retention.protection import shield
from sexton.sessions.family import Family


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
