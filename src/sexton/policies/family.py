"""Which sessions belong together?

Parents may be missing and may form circles: what a stranger stored is walked through all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sexton.model.removal import Member
from sexton.model.session import Relation, State


class Family:
    """Sessions of one home, and who came from whom."""

    def __init__(self, members: Iterable[Member] = ()) -> None:
        self._members: dict[str, Member] = {}
        self._children: dict[str, dict[str, Member]] = {}
        self.add(members)

    def add(self, members: Iterable[Member]) -> None:
        """Take further sessions in; one that is known is known better afterwards."""
        for member in members:
            self._members[member.id] = member
            if member.parent is not None:
                self._children.setdefault(member.parent, {})[member.id] = member

    def __contains__(self, id: str) -> bool:
        return id in self._members

    def __iter__(self) -> Iterator[Member]:
        return iter(self._members.values())

    def conversation(self, member: Member) -> tuple[Member, ...]:
        """The session and those it was compressed from or into, oldest first."""
        if member.relation is not Relation.COMPRESSION and member.id not in self._children:
            return (member,)
        found = {member.id: member}
        waiting = [member]
        while waiting:
            for each in self._compressed(waiting.pop()):
                if each.id not in found:
                    found[each.id] = each
                    waiting.append(each)
        return tuple(sorted(found.values(), key=_age))

    def open_below(self, members: Iterable[Member]) -> Member | None:
        """An open session that descends from one of these, however far."""
        waiting = list(members)
        seen = {each.id for each in waiting}
        while waiting:
            for child in self._children.get(waiting.pop().id, {}).values():
                if child.state is State.OPEN:
                    return child
                if child.id not in seen:
                    seen.add(child.id)
                    waiting.append(child)
        return None

    def _compressed(self, member: Member) -> Iterator[Member]:
        """The next sessions of its conversation, in both directions."""
        if member.relation is Relation.COMPRESSION and member.parent in self._members:
            yield self._members[member.parent]
        for child in self._children.get(member.id, {}).values():
            if child.relation is Relation.COMPRESSION:
                yield child


def _age(member: Member) -> tuple[object, int]:
    return member.active_at, member.ref
