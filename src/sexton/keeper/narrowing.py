"""Which part of a plan is about the sessions of one source?"""

from __future__ import annotations

from collections import defaultdict

from sexton.core.plan import Action, ArchiveSession, Plan, RemoveFiles, Seen, TrashSession
from sexton.core.record import replace
from sexton.store.ledger import Ledger


def of_source(ledger: Ledger, plan: Plan, source: str | None) -> Plan:
    """The plan without what is about sessions of other sources; None means any source."""
    if source is None:
        return plan
    ids: dict[str, list[str]] = defaultdict(list)
    for each in (*plan.actions, *plan.held):
        ids[each.seen.home].append(each.seen.id)
    sources = {
        (home, member.id): member.source
        for home, named in ids.items()
        for member in ledger.removable.relatives(home, named=named, below=[])
    }

    def is_meant(seen: Seen) -> bool:
        return sources.get((seen.home, seen.id)) == source

    def is_wanted(action: Action) -> bool:
        if isinstance(action, TrashSession | ArchiveSession | RemoveFiles):
            return action.source == source
        return is_meant(action.seen)

    return replace(
        plan,
        actions=tuple(each for each in plan.actions if is_wanted(each)),
        held=tuple(each for each in plan.held if is_meant(each.seen)),
    )
