"""What every ledger promises when many spend from the same budgets at the same moment."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial

from sexton.spending.model import Refused, Scope, Taken, Unit
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_samples import NOON, at, born, enrol, race
from tests.contract.ledger_contract_spending_samples import (
    HOUR,
    budget,
    granted,
    settle,
    spend,
    standing,
    take,
    used,
)

ROUNDS = 4
CROWD = 16


class SpendingRacesContract:
    """Together, nobody gets more than there is."""

    def test_what_many_are_granted_together_never_exceeds_a_limit(self, ledger: Ledger) -> None:
        enrol(ledger, "agent")
        for turn in range(ROUNDS):
            session = born(ledger, f"{turn}")
            limits = (budget(limit=100), budget(Scope.TREE, limit=90, per=HOUR))
            tries = [
                partial(take, ledger, session, *limits, input_tokens=7) for _ in range(2 * CROWD)
            ]
            taken = [each for each in race(tries) if isinstance(each, Taken)]
            assert len(taken) == 12
            assert [used(ledger, session, limit) for limit in limits] == [84, 84]

    def test_clocks_that_differ_by_a_slice_share_one_limit(self, ledger: Ledger) -> None:
        for turn in range(ROUNDS):
            session, limit = born(ledger, f"{turn}"), budget(Scope.TREE, limit=100, per=HOUR)
            times = [NOON + timedelta(minutes=6 * (number % 3)) for number in range(2 * CROWD)]
            tries = [
                partial(take, ledger, session, limit, now=now, input_tokens=10) for now in times
            ]
            taken = [each for each in race(tries) if isinstance(each, Taken)]
            assert len(taken) == 10

    def test_a_grant_is_settled_once_however_many_try(self, ledger: Ledger) -> None:
        for turn in range(ROUNDS):
            session, limit = born(ledger, f"{turn}"), budget(limit=100)
            grant = granted(ledger, session, limit, by="gone", input_tokens=50)
            tries = [partial(settle, ledger, grant, session, input_tokens=30) for _ in range(8)]
            frees = [partial(ledger.spending.free, at(1)) for _ in range(4)]
            jobs: list[Callable[[], object]] = [*tries, *frees]
            assert race(jobs)[:8].count(True) == 1
            found = standing(ledger, session, limit)
            assert (found.spent, found.reserved) == (30, 0)

    def test_the_next_may_have_what_others_give_back_meanwhile(self, ledger: Ledger) -> None:
        session, limit = born(ledger), budget(limit=50)

        def comes_and_goes() -> int:
            refused = 0
            for _ in range(10):
                taken = take(ledger, session, limit, input_tokens=10)
                if isinstance(taken, Refused):
                    refused += 1
                else:
                    assert settle(ledger, taken.grant, session)
            return refused

        race([comes_and_goes] * 8)
        assert used(ledger, session, limit) == 0
        assert all(granted(ledger, session, limit, input_tokens=10) for _ in range(5))

    def test_what_is_spent_at_once_by_many_is_exact(self, ledger: Ledger) -> None:
        session, limit = born(ledger), budget(limit=20, unit=Unit.TOOL_CALLS)
        tries = [partial(spend, ledger, session, limit, tool_calls=1) for _ in range(2 * CROWD)]
        taken = [each for each in race(tries) if isinstance(each, Taken)]
        assert len(taken) == 20
        assert used(ledger, session, limit) == 20
