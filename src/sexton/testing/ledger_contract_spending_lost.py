"""What every ledger promises about grants that a crash of the database took."""

from __future__ import annotations

import pytest

from sexton.errors import LedgerBusy
from sexton.model.session import Session
from sexton.model.spend import Budget, Scope, Unit
from sexton.ports import Ledger
from sexton.ports.spending import Granted, Slot
from sexton.testing.ledger_contract_samples import NOON, at, born, reread
from sexton.testing.ledger_contract_spending_samples import (
    DAY,
    HOUR,
    bound_by,
    budget,
    granted,
    settle,
    standing,
    used,
)

SLOT = "slot of an agent"


def lost(session: Session, *budgets: Budget, number: int = 0) -> Granted:
    """A grant of which only its worker knows."""
    places = tuple((bound.meter, bound.start) for bound in bound_by(budgets, session))
    return Granted(Slot(SLOT, number), session.ref, "agent", NOON, places)


class SpendingLostContract:
    """Use counts once, whatever became of its grant."""

    def test_the_use_of_a_lost_grant_is_counted_once(self, ledger: Ledger) -> None:
        session = born(ledger)
        limits = (
            budget(limit=1000),
            budget(Scope.DAY, limit=1000),
            budget(Scope.SOURCE, limit=1000, per=HOUR),
            budget(limit=1000, unit=Unit.USD),
        )
        grant = lost(session, *limits)
        assert settle(ledger, grant, session, input_tokens=30, usd=7)
        assert not settle(ledger, grant, session, input_tokens=30, usd=7)
        assert [used(ledger, session, limit) for limit in limits] == [30, 30, 30, 7]
        assert reread(ledger, session).usage.input_tokens == 30
        assert reread(ledger, session).usage.cost_micros == 7

    def test_a_counter_that_was_lost_begins_with_what_the_session_had_used(
        self, ledger: Ledger
    ) -> None:
        session, limit = born(ledger), budget(limit=1000)
        assert settle(ledger, None, session, input_tokens=100)
        assert settle(ledger, lost(session, limit), session, input_tokens=30)
        assert used(ledger, session, limit) == 130
        assert reread(ledger, session).usage.input_tokens == 130

    def test_a_lost_grant_that_is_released_counts_nothing(self, ledger: Ledger) -> None:
        session, limit = born(ledger), budget()
        grant = lost(session, limit)
        assert settle(ledger, grant, session)
        assert not settle(ledger, grant, session)
        assert used(ledger, session, limit) == 0

    def test_use_that_no_budget_counts_is_counted_once_for_its_session(
        self, ledger: Ledger
    ) -> None:
        session, grant = born(ledger), lost(born(ledger, "other"))
        assert settle(ledger, grant, session, input_tokens=30)
        assert not settle(ledger, grant, session, input_tokens=30)
        assert reread(ledger, session).usage.input_tokens == 30

    def test_a_slot_is_used_again_and_a_late_repetition_settles_nothing(
        self, ledger: Ledger
    ) -> None:
        session, limit = born(ledger), budget()
        first = granted(ledger, session, limit, slot=Slot(SLOT, 1), input_tokens=10)
        assert settle(ledger, first, session, input_tokens=10)
        second = granted(ledger, session, limit, slot=Slot(SLOT, 2), input_tokens=20)
        assert not settle(ledger, first, session, input_tokens=10)
        assert (standing(ledger, session, limit).spent, used(ledger, session, limit)) == (10, 30)
        assert settle(ledger, second, session, input_tokens=20)
        assert (standing(ledger, session, limit).spent, used(ledger, session, limit)) == (30, 30)

    def test_the_next_grant_of_a_slot_gives_back_what_was_never_settled(
        self, ledger: Ledger
    ) -> None:
        session, limit = born(ledger), budget()
        other = granted(ledger, session, limit, input_tokens=1)
        granted(ledger, session, limit, slot=Slot(SLOT, 1), input_tokens=10)
        grant = granted(ledger, session, limit, slot=Slot(SLOT, 2), input_tokens=20)
        assert used(ledger, session, limit) == 21
        assert settle(ledger, grant, session)
        assert settle(ledger, other, session)
        assert used(ledger, session, limit) == 0

    def test_settling_a_lost_grant_gives_back_what_its_slot_held_before(
        self, ledger: Ledger
    ) -> None:
        session, limit = born(ledger), budget()
        granted(ledger, session, limit, slot=Slot(SLOT, 1), input_tokens=10)
        assert settle(ledger, lost(session, limit, number=2), session, input_tokens=30)
        assert not settle(ledger, lost(session, limit, number=2), session, input_tokens=30)
        found = standing(ledger, session, limit)
        assert (found.spent, found.reserved) == (30, 0)

    def test_a_grant_that_was_given_back_before_it_was_stored_is_not_stored(
        self, ledger: Ledger
    ) -> None:
        """A server may come to the statement of an interrupted caller after all that follows it."""
        session, limit = born(ledger), budget()
        assert settle(ledger, lost(session, limit, number=1), session)
        with pytest.raises(LedgerBusy):
            granted(ledger, session, limit, slot=Slot(SLOT, 1), input_tokens=10)
        assert used(ledger, session, limit) == 0

    def test_what_was_freed_is_not_given_back_again_by_its_slot(self, ledger: Ledger) -> None:
        session, limit = born(ledger), budget()
        granted(ledger, session, limit, by="gone", slot=Slot(SLOT, 1), input_tokens=10)
        ledger.spending.free(at(1))
        granted(ledger, session, limit, slot=Slot(SLOT, 2), input_tokens=20)
        assert used(ledger, session, limit) == 20

    def test_that_a_grant_was_settled_is_remembered_for_weeks(self, ledger: Ledger) -> None:
        session, limit = born(ledger), budget(limit=1000)
        grant = granted(ledger, session, limit, input_tokens=10)
        assert settle(ledger, grant, session, input_tokens=10)
        assert ledger.spending.free(NOON + 34 * DAY) == []
        assert not settle(ledger, grant, session, input_tokens=10)
        assert used(ledger, session, limit) == 10
