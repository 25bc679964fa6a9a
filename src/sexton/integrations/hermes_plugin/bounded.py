"""May a turn go on while the ledger cannot say? As far as its budgets reach for it alone."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress

from sexton.core.machine_ports import Clock
from sexton.errors import PriceUnknown
from sexton.spending.budgets import fits, is_reached, said, tokens
from sexton.spending.model import Act, Budget, Unit
from sexton.spending.policy import SpendRules
from sexton.spending.price_table import listed_tariff
from sexton.spending.pricing import tariff_of

PASSED = (Unit.MESSAGES, Unit.WALL)
"""Nobody asks before these are spent, so the first one too many stops what comes next."""


class OwnCount:
    """What one turn of Hermes has spent, counted in memory whether there is a ledger or not.

    Thread-safe: Hermes calls several tools of a turn at once.
    `unpriced` are the models whose money it cannot count, since nobody knows their price.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began = clock.monotonic()
        self._lock = threading.Lock()
        self._spent: Counter[Unit] = Counter()
        self._calls: list[tuple[Mapping[Unit, int], str | None]] = []
        self.unpriced: set[str] = set()

    def add(self, amounts: Mapping[Unit, int], model: str | None = None) -> None:
        """Count what was spent; `model` is the one that was asked, if one was."""
        counted = tokens(amounts)
        with self._lock:
            self._spent.update(counted)
            if Unit.TOKENS in counted:
                self._calls.append((amounts, model))

    def refusal(
        self, rules: SpendRules, source: str, wanted: Mapping[Unit, int], model: str | None = None
    ) -> str | None:
        """Why so much more is not spent: a budget would not even have room for this turn alone."""
        bounding = [budget for budget in rules.budgets if budget.includes(source)]
        asked = tokens(wanted)
        with self._lock:
            spent, calls = Counter(self._spent), list(self._calls)
        spent[Unit.WALL] = int(1000 * (self._clock.monotonic() - self._began))
        if Unit.USD in {budget.unit for budget in bounding}:
            spent[Unit.USD] = sum(self._cost(rules, *call) for call in calls)
            asked[Unit.USD] = self._cost(rules, wanted, model) if Unit.TOKENS in asked else 0
        for budget in bounding:
            have, more = spent[budget.unit], asked.get(budget.unit, 0)
            if budget.action is not Act.WARN and _is_spent(budget, have, more):
                return f"the ledger cannot be used, and this turn alone took {said(budget, have)}"
        return None

    def _cost(self, rules: SpendRules, amounts: Mapping[Unit, int], model: str | None) -> int:
        tariff = tariff_of(rules.prices, model, listed_tariff)
        if tariff is not None:
            with suppress(PriceUnknown):  # the table may change while it is used
                return tariff(amounts)
        self.unpriced.add(model or "that was not named")
        return 0


def _is_spent(budget: Budget, spent: int, asked: int) -> bool:
    if budget.unit in PASSED:
        return is_reached(budget.limit, spent)
    return asked > 0 and not fits(budget.limit, spent, asked)
