"""From which session did this one come, and which came of it?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sexton.core.record import record
from sexton.core.session import Session
from sexton.core.wording import counted
from sexton.retention.model import Member
from sexton.retention.removable import LedgerRemovable

MOST = 60
"""So many relatives are shown, the nearest first."""
HIGHEST = 50
"""So far up the root is looked for; a circle ends there, too."""


@record
class Node:
    """A session among its relatives."""

    id: str
    state: str
    says: str
    here: bool
    children: tuple[Node, ...] = ()


def lineage(removable: LedgerRemovable, session: Session) -> tuple[list[Node], bool]:
    """The tree around a session, from its root, and whether more of it is left out."""
    found = _upward(removable, session)
    if not found:
        return [], False
    root = found[-1]
    known = {each.id: each for each in found}
    more = _downward(removable, session.home, known)
    if len(known) < 2:
        return [], False
    children: dict[str, list[Member]] = {}
    for each in known.values():
        if each.parent is not None and each.id != root.id:
            children.setdefault(each.parent, []).append(each)
    return [_node(root, children, session.id, set())], more


def _upward(removable: LedgerRemovable, session: Session) -> list[Member]:
    """The session and those it came from, itself first."""
    found: list[Member] = []
    wanted: str | None = session.id
    for _ in range(HIGHEST):
        if wanted is None or any(each.id == wanted for each in found):
            break
        members = removable.relatives(session.home, named=[wanted], below=())
        if not members:
            break
        found.append(members[0])
        wanted = members[0].parent
    return found


def _downward(removable: LedgerRemovable, home: str, known: dict[str, Member]) -> bool:
    """Add what came of the known ones, level by level; whether there was more than is shown."""
    level = list(known)
    while level and len(known) < MOST:
        below = removable.relatives(home, named=(), below=level)
        fresh = [each for each in below if each.id not in known]
        for each in fresh[: MOST - len(known)]:
            known[each.id] = each
        if len(known) >= MOST:
            return len(fresh) > 0
        level = [each.id for each in fresh]
    return bool(level)


def _node(
    member: Member, children: Mapping[str, Sequence[Member]], here: str, seen: set[str]
) -> Node:
    seen.add(member.id)
    relation = f"{member.relation}, " if member.relation else ""
    below = sorted(children.get(member.id, ()), key=lambda each: each.active_at)
    return Node(
        id=member.id,
        state=member.state.value,
        says=f"{relation}{member.source}, {counted(member.message_count, 'message')}",
        here=member.id == here,
        children=tuple(_node(each, children, here, seen) for each in below if each.id not in seen),
    )
