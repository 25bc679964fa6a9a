"""Which sessions belong together?

Parents may be missing and may form circles: what a stranger stored is walked through all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sexton.core.session import Relation, State
from sexton.retention.model import Member


class Family:
    """Sessions of one home, and who came from whom."""

    def __init__(self, members: Iterable[Member] = ()) -> None:
        self._members: dict[str, Member] = {}
        self._children: dict[str, dict[str, Member]] = {}
        self._open_below: dict[str, Member] = {}
        self._none_below: set[str] = set()
        self.add(members)

    def add(self, members: Iterable[Member]) -> None:
        """Take further sessions in; one that is known is known better afterwards."""
        self._open_below.clear()
        self._none_below.clear()
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
        """An open session that descends from one of these, however far.

        Remembered for all on the way, so whoever asks about each looks at each once.
        """
        above: dict[str, str | None] = {each.id: None for each in members}
        waiting = list(above)
        while waiting:
            id = waiting.pop()
            children = self._children.get(id, {}).values()
            is_open = (child for child in children if child.state is State.OPEN)
            found = self._open_below.get(id) or next(is_open, None)
            if found is not None:
                self._open_below |= dict.fromkeys(_way(id, above), found)
                return found
            for child in children:
                if child.id not in above and child.id not in self._none_below:
                    above[child.id] = id
                    waiting.append(child.id)
        self._none_below |= above.keys()
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


def _way(id: str | None, above: Mapping[str, str | None]) -> Iterator[str]:
    """A session and those it was reached by."""
    while id is not None:
        yield id
        id = above[id]


def depths(parents: Mapping[str, str | None]) -> dict[str, int]:
    """How far each session is below the eldest of these; each step up is gone once."""
    found: dict[str, int] = {}
    for id in parents:
        place, way = id, dict[str, None]()
        while place in parents and place not in found and place not in way:
            way[place] = None
            place = parents[place] or ""
        above = found.get(place, 0)  # a circle ends somewhere, too
        found |= {each: above + steps for steps, each in enumerate(reversed(way), start=1)}
    return found
