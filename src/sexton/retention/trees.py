"""Which sessions that are to be archived belong into one file?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sexton.core.plan import ArchiveSession
from sexton.core.record import replace
from sexton.retention.retain import Due
from sexton.store.ledger import Ledger


def by_tree(ledger: Ledger, home: str, due: Sequence[Due]) -> list[Due]:
    """The same, but what is archived of one tree as one: it goes when the last of it is due."""
    archived = [each for each in due if isinstance(each.actions[0], ArchiveSession)]
    place = {
        action.seen.id: number for number, each in enumerate(archived) for action in each.actions
    }
    members = ledger.removable.relatives(home, named=list(place), below=())
    above = {
        place[each.id]: place[each.parent]
        for each in members
        if each.parent in place and place[each.parent] != place[each.id]
    }
    trees: dict[int, list[Due]] = {}
    for root, each in zip(roots(len(archived), above), archived, strict=True):
        trees.setdefault(root, []).append(each)
    others = [each for each in due if not isinstance(each.actions[0], ArchiveSession)]
    return others + [_one(tree) for _, tree in sorted(trees.items())]


def roots(count: int, above: Mapping[int, int]) -> list[int]:
    """Where the way up from each of so many ends; each step is gone once.

    What a stranger stored may go round in a circle: that ends at its lowest number.
    """
    found: dict[int, int] = {}
    for number in range(count):
        place, way = number, dict[int, int]()
        while place not in found and place not in way and (up := above.get(place)) is not None:
            way[place] = len(way)
            place = up
        circle = list(way)[way[place] :] if place in way else [found.get(place, place)]
        found |= dict.fromkeys([*way, place], min(circle))
    return [found[number] for number in range(count)]


def _one(tree: Sequence[Due]) -> Due:
    if len(tree) == 1:
        return tree[0]
    name = tree[0].actions[0].seen.id
    actions = [replace(action, tree=name) for each in tree for action in each.actions]
    return Due(actions=tuple(actions), since=max(each.since for each in tree))
