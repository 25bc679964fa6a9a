"""How do things stand, in numbers?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sexton.core.plan import JournalEntry
from sexton.core.record import record
from sexton.finalizers.model import FinalizationState
from sexton.homes.home_ports import HomeRecord
from sexton.keeper.keeper_context import Estate
from sexton.keeper.ledger_figures import today
from sexton.liveness.leaks import Leaks, count_leaks
from sexton.liveness.registered_workers import LastSweep
from sexton.liveness.standing import Standing, tally
from sexton.retention.disk_space import Space
from sexton.spending.budget_standing import NOWHERE, standings
from sexton.spending.model import Scope, Unit, Who
from sexton.spending.model import Standing as Meter
from sexton.store.hygiene import LedgerSize
from sexton.web.answers.overview_answers import history
from sexton.web.desk import Desk
from sexton.web.memory import Remembered

DAYS = timedelta(days=30)
RECENT = 8


@record
class Spent:
    """What was spent today, by the budgets of the day, and what the sessions active today cost."""

    meters: tuple[Meter, ...]
    tokens: int
    micros: int

    @property
    def usd(self) -> Meter | None:
        """The budget of the day in money, if there is one."""
        found = (each for each in self.meters if each.bound.meter.unit is Unit.USD)
        return next(found, None)


@record
class Stand:
    """Everything the overview tells of this moment."""

    now: datetime
    homes: tuple[HomeRecord, ...]
    unreachable: tuple[str, ...]
    tallies: Mapping[str, Counter[Standing]]
    work: Mapping[FinalizationState, int]
    spent: Spent
    last_sweep: LastSweep | None
    recent: tuple[JournalEntry, ...]

    @property
    def open(self) -> Counter[Standing]:
        """The open sessions of all homes."""
        return sum(self.tallies.values(), Counter())


@record
class Room:
    """What the disk and the ledger take."""

    disk: Space
    ledger: LedgerSize


class Glance:
    """Asks for everything, each thing as often as it may change."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        clock = desk.house.clock
        self.stand = Remembered(self._stand, clock, 1.0)
        self.leaks = Remembered(self._leaks, clock, 60.0)
        self.room = Remembered(self._room, clock, 15.0)
        self.lines = Remembered(self._lines, clock, 15.0)

    def _stand(self) -> Stand:
        house = self._desk.house
        estate, ledger = self._desk.lookout.estate(), house.ledger
        homes = tuple(ledger.homes.all())
        work: Counter[FinalizationState] = Counter()
        for (_, state), count in ledger.finalizing.tally().items():
            work[state] += count
        return Stand(
            now=house.clock.now(),
            homes=homes,
            unreachable=estate.unreachable,
            tallies=tally(estate, homes),
            work=work,
            spent=_spent(estate),
            last_sweep=ledger.workers.last_sweep(),
            recent=tuple(ledger.journal.page(None, None, None, RECENT)),
        )

    def _leaks(self) -> Leaks:
        house = self._desk.house
        return count_leaks(house.ledger, house.ledger.homes.all(), DAYS, house.clock.now())

    def _room(self) -> Room:
        estate = self._desk.lookout.estate()
        assert estate.space is not None
        return Room(disk=estate.space(), ledger=estate.ledger.hygiene.size())

    def _lines(self) -> Mapping[str, Sequence[int]]:
        """How each number went in the last day, oldest first."""
        told: Mapping[str, Any] = history(self._desk, timedelta(days=1))["lines"]
        return {name: [point["value"] for point in line] for name, line in told.items()}


def _spent(estate: Estate) -> Spent:
    found = standings(estate, Who(NOWHERE, NOWHERE, ""))
    meters = tuple(each for each in found if each.bound.meter.scope is Scope.DAY)
    known = estate.ledger.gauges.spent_since(today(estate.clock.now()))
    return Spent(meters=meters, tokens=known.tokens, micros=known.cost_micros)
