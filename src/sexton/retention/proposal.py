"""What would retention and the disk budget do now?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sexton.core.plan import ArchiveSession, Held, Plan, Reason, RemoveFiles
from sexton.core.record import record, replace
from sexton.core.session import NATIVE
from sexton.keeper.keeper_context import Estate
from sexton.retention.blast_radius import loses
from sexton.retention.disk_relief import Relieved, relieved, shortage
from sexton.retention.file_scan import Scan
from sexton.retention.policy import Retention
from sexton.retention.retain import Due, Found, kept_long_enough
from sexton.rules.rulebook import Rulebook
from sexton.store.ledger import Ledger

DELIVERED = "delivered"
"""What goes once its work has been delivered is meant to, also if nothing else is there."""


@record
class Proposal:
    """What is due in every home, what is held back, and what the disk budget asks for besides."""

    due: Mapping[str, Sequence[Due]]
    held: Mapping[str, Sequence[Held]]
    relieved: Relieved | None = None


def propose(estate: Estate, homes: Sequence[str], retention: Retention, scan: Scan) -> Proposal:
    """Ask retention and budget about homes. Changes nothing."""
    relief = relieved(estate, homes, retention, scan)
    due: dict[str, list[Due]] = {}
    held: dict[str, list[Held]] = {}
    for home in homes:
        found = kept_long_enough(estate, home, retention, scan)
        more = relief.found.get(home, Found()) if relief else Found()
        going, held[home] = _both(found.due, more.due), [*found.held, *more.held]
        if not retention.allow_remove_all:
            going, kept = hold_all(estate.ledger, home, going)
            held[home] += kept
        due[home] = by_tree(estate.ledger, home, going)
    return Proposal(due=due, held=held, relieved=relief)


def _both(old: Sequence[Due], more: Sequence[Due]) -> list[Due]:
    known = {action.seen.id for each in old for action in each.actions}
    return [*old, *(each for each in more if each.actions[0].seen.id not in known)]


def with_retention(
    estate: Estate,
    plan: Plan,
    home: str | None = None,
    wanted: Rulebook | None = None,
    *,
    allow_remove_all: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> Plan:
    """The plan with what retention and the budget would do, for a person to confirm.

    That the budget can not be reached is told.
    """
    if estate.removing is None:
        return plan
    homes = [NATIVE, *estate.records] if home is None else [home]
    retention = (wanted or estate.rules(None).rules).retention
    if allow_remove_all:
        retention = replace(retention, allow_remove_all=True)
    proposal = propose(estate, homes, retention, Scan(estate.removing))
    if short := shortage(proposal.relieved):
        tell(short)
    due = [each for name in homes for each in proposal.due[name]]
    held = [each for name in homes for each in proposal.held[name]]
    return replace(
        plan,
        actions=plan.actions + tuple(action for each in due for action in each.actions),
        held=plan.held + tuple(held),
    )


def hold_all(ledger: Ledger, home: str, due: Sequence[Due]) -> tuple[list[Due], list[Held]]:
    """What may go; if nothing of a home would be left, all records that go by age are held back.

    The archive keeps a record for good, so archiving goes on.
    """
    going: list[Due] = []
    aged: list[Due] = []
    for each in due:
        (aged if _goes_by_age(each) else going).append(each)
    if not aged or _leaving(due) < ledger.retained.count(home):
        return list(due), []
    count = _leaving(aged)
    holding = Reason(
        "remove_all",
        f"no session of '{home}' that is over would be left: this would remove {count}; "
        "'sexton apply --allow-remove-all' does it once, retention.allow_remove_all always",
    )
    held = [
        Held(seen=action.seen, wanted=action.reason, holding=holding)
        for each in aged
        for action in each.actions
    ]
    return going, held


def _goes_by_age(due: Due) -> bool:
    """Whether records go to the trash for no better reason than their age."""
    action = due.actions[0]
    is_record = not isinstance(action, RemoveFiles)
    return is_record and loses(action) and action.reason.code != DELIVERED


def _leaving(due: Sequence[Due]) -> int:
    """How many records leave the home."""
    return sum(len(each.actions) for each in due if not isinstance(each.actions[0], RemoveFiles))


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
