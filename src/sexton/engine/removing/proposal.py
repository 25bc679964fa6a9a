"""What would retention and the disk budget do now?"""

from __future__ import annotations

from collections.abc import Sequence

from sexton.engine.estate import Estate
from sexton.engine.removing.relieve import Relieved, relieved
from sexton.engine.removing.retain import Due, Found, kept_long_enough
from sexton.model.plan import Plan
from sexton.model.record import record, replace
from sexton.model.session import NATIVE
from sexton.policies.retention import Retention
from sexton.policies.rulebook import Rulebook


@record
class Proposal:
    """What is due in every home, and what the disk budget asks for besides."""

    found: dict[str, Found]
    relieved: Relieved | None = None

    def due(self, home: str) -> list[Due]:
        """All that is due in a home; what the budget asks for is due since now."""
        mine = list(self.found[home].due) if home in self.found else []
        known = {action.seen.id for each in mine for action in each.actions}
        more = self.relieved.found.get(home) if self.relieved else None
        return mine + [
            each for each in (more.due if more else ()) if each.actions[0].seen.id not in known
        ]


def propose(estate: Estate, homes: Sequence[str], retention: Retention) -> Proposal:
    """Ask retention and budget about homes. Changes nothing."""
    return Proposal(
        found={home: kept_long_enough(estate, home, retention) for home in homes},
        relieved=relieved(estate, homes, retention),
    )


def with_retention(
    estate: Estate, plan: Plan, home: str | None = None, wanted: Rulebook | None = None
) -> Plan:
    """The plan with what retention and the budget would do, for a person to confirm."""
    homes = [NATIVE, *estate.records] if home is None else [home]
    retention = (wanted or estate.rules(None).rules).retention
    proposal = propose(estate, homes, retention)
    due = [each for name in homes for each in proposal.due(name)]
    held = [each for name in homes for each in proposal.found[name].held]
    return replace(
        plan,
        actions=plan.actions + tuple(action for each in due for action in each.actions),
        held=plan.held + tuple(held),
    )
