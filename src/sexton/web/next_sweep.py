"""What does the next sweep do, and what waits for a person's word?"""

from __future__ import annotations

from sexton.core.plan import Action, Plan
from sexton.core.record import record
from sexton.liveness.policy import SUSPECT
from sexton.web.memory import Remembered
from sexton.wiring import Sexton


@record
class Next:
    """A plan in two parts: what a keeper does by itself, and what a person has to allow."""

    plan: Plan
    will: tuple[Action, ...]
    if_allowed: tuple[Action, ...]


class NextSweep:
    """The plan of this moment, thought of anew once something has been done."""

    def __init__(self, house: Sexton) -> None:
        self._house = house
        self._plan = Remembered(self._look, house.clock, 30.0)

    def __call__(self) -> Next:
        newest = self._house.ledger.journal.page(None, None, None, 1)
        return self._plan(newest[0].ref if newest else 0)

    def _look(self) -> Next:
        plan = self._house.plan()
        will: list[Action] = []
        rest: list[Action] = []
        for each in plan.actions:
            # A keeper never ends what is only suspect.
            waits = each.seen.home in plan.observed or each.reason.code == SUSPECT
            (rest if waits else will).append(each)
        return Next(plan=plan, will=tuple(will), if_allowed=tuple(rest))
