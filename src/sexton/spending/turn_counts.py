"""What one turn has spent and holds; a value, so that it is replaced in one step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from sexton.errors import UsageInvalid
from sexton.spending.model import Unit

if TYPE_CHECKING:
    from sexton.spending.grant import Grant


class TurnCounts(NamedTuple):
    """What is spent for certain, and the grants that are not settled.

    `first` is the grant whose call is the iteration that the turn began with.
    """

    spent: Mapping[Unit, int] = {}
    grants: tuple[Grant, ...] = ()
    first: Grant | None = None
    is_closed: bool = False

    def held(self, unit: Unit) -> int:
        """What the open grants hold of a unit."""
        return sum([grant.held(unit) for grant in self.grants])

    def total(self, unit: Unit) -> int:
        """What counts against a limit; an iteration counts from its reservation on."""
        iterations = sum([grant.iteration.get(unit, 0) for grant in self.grants])
        return self.spent.get(unit, 0) + self.held(unit) + iterations

    def spending(self, amounts: Mapping[Unit, int]) -> TurnCounts:
        """The same after more was spent."""
        total = {unit: self.spent.get(unit, 0) + amount for unit, amount in amounts.items()}
        return self._replace(spent={**self.spent, **total})

    def holding(self, grant: Grant) -> TurnCounts:
        """The same with one more grant; UsageInvalid once the turn is over."""
        if self.is_closed:  # a signal handler or a thread has ended it since it was asked
            raise UsageInvalid("the turn is over")
        return self._replace(grants=(*self.grants, grant), first=self.first or grant)

    def closed(self) -> TurnCounts:
        """The same at the end of the turn."""
        return self._replace(is_closed=True)

    def settled(self, grant: Grant, used: Mapping[Unit, int]) -> TurnCounts:
        """The same after a grant was settled; once, however often it is tried."""
        if grant not in self.grants:
            return self
        return self._without(grant).spending(used).spending(grant.iteration)

    def dropped(self, grant: Grant) -> TurnCounts:
        """The same as if a grant had never been asked for."""
        return self._without(grant)._replace(first=None if self.first is grant else self.first)

    def _without(self, grant: Grant) -> TurnCounts:
        return self._replace(grants=tuple([each for each in self.grants if each is not grant]))
