"""May a turn go on while the ledger can not say? As far as its budgets reach for it alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from sexton.model.spend import Act, Unit
from sexton.policies.budgets import fits, said, tokens
from sexton.policies.spend import SpendRules


class OwnCount:
    """What one turn of Hermes has spent, counted in memory whether there is a ledger or not."""

    def __init__(self) -> None:
        self._spent: Counter[Unit] = Counter()

    def add(self, amounts: Mapping[Unit, int]) -> None:
        """Count what was spent."""
        self._spent.update(tokens(amounts))

    def refusal(self, rules: SpendRules, source: str, wanted: Mapping[Unit, int]) -> str | None:
        """Why so much more is not spent: a budget would not even have room for this turn alone."""
        asked = tokens(wanted)
        for budget in rules.budgets:
            spent, more = self._spent[budget.unit], asked.get(budget.unit, 0)
            is_bound = budget.action is not Act.WARN and budget.includes(source)
            if is_bound and more and not fits(budget.limit, spent, more):
                return f"the ledger can not be used, and this turn alone took {said(budget, spent)}"
        return None
