"""What would retention and the disk budget do now?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sexton.core.plan import Held, Plan
from sexton.core.record import record, replace
from sexton.core.session import NATIVE
from sexton.keeper.keeper_context import Estate
from sexton.retention.disk_relief import Relieved, relieved, shortage
from sexton.retention.everything import hold_all
from sexton.retention.file_scan import Scan
from sexton.retention.policy import Retention
from sexton.retention.retain import Due, Found, kept_long_enough
from sexton.retention.trees import by_tree
from sexton.rules.rulebook import Rulebook


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
