"""Which sessions are garbage?

A conversation is judged as one, however often it was compressed. Any other child is judged by
itself: it never goes because its parent does, and its parent's row stays to tell where it came
from.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache

from sexton.core.plan import Reason
from sexton.core.record import record
from sexton.retention.model import HERE, Member
from sexton.retention.protection import shield
from sexton.sessions.family import Family


@record
class Collection:
    """From when on an empty and a trivial session is garbage, and how many messages are trivial.

    With a source only sessions of that one are looked at.
    """

    empty_after: timedelta = timedelta(hours=24)
    trivial_after: timedelta = timedelta(days=7)
    trivial_max: int = 5
    source: str | None = None


@record
class Finding:
    """What was found about a conversation: why it should go, and what keeps it.

    It goes if there is a reason and nothing holds it; whatever stays has something that holds it.
    """

    members: tuple[Member, ...]
    wanted: Reason | None
    holding: Reason | None

    @property
    def goes(self) -> bool:
        return self.holding is None


def find(member: Member, family: Family, policy: Collection, now: datetime) -> Finding:
    """Whether the conversation a session belongs to is garbage, and why or why not."""
    members = family.conversation(member)
    wanted, kept = _size_and_age(members, policy, now)
    return Finding(
        members=members,
        wanted=wanted,
        holding=kept or _protection(member, members, family, now),
    )


def _size_and_age(
    members: Sequence[Member], policy: Collection, now: datetime
) -> tuple[Reason | None, Reason | None]:
    """Why it is garbage, or why it is not; what was removed before still counts."""
    if policy.source is not None and {each.source for each in members} != {policy.source}:
        return None, Reason("source", f"it is not from '{policy.source}' alone")
    said = sum([each.message_count for each in members])
    if said > policy.trivial_max:
        return None, Reason("substantial", f"{said} messages are more than {policy.trivial_max}")
    idle = now - members[-1].active_at
    after = policy.trivial_after if said else policy.empty_after
    code = "trivial" if said else "empty"
    if idle < after:
        return None, Reason("young", f"{code}, but for less than {_span(after)}")
    return _garbage(code, said, _span(idle)), None


@lru_cache(maxsize=4096)
def _garbage(code: str, said: int, idle: str) -> Reason:
    """The same words for many sessions are made once."""
    words = "no messages" if not said else "1 message" if said == 1 else f"{said} messages"
    return Reason(code, f"{words}, and nothing for {idle}")


def _protection(
    asked: Member, members: Sequence[Member], family: Family, now: datetime
) -> Reason | None:
    for each in members:
        found = shield(each, now)
        if found is not None and each.id == asked.id:
            return found
        if found is not None:
            return Reason(found.code, f"{each.id} is of the same conversation, and {found.text}")
    if not HERE & {each.state for each in members}:
        return Reason("away", f"it is {asked.state}")
    child = family.open_below(members)
    return None if child is None else Reason("open_child", f"its child {child.id} is open")


def _span(length: timedelta) -> str:
    if length >= timedelta(days=2):
        return f"{length.days} days"
    hours = length // timedelta(hours=1)
    return f"{hours} hours" if hours >= 2 else f"{length // timedelta(minutes=1)} minutes"
