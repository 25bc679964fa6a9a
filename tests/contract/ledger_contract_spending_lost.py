"""What every ledger promises about grants that a crash of the database took."""

from __future__ import annotations

import pytest

from sexton.core.session import Session
from sexton.errors import LedgerBusy
from sexton.spending.model import Budget, Granted, Scope, Slot, Unit
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_samples import NOON, at, born, reread
from tests.contract.ledger_contract_spending_samples import (
    DAY,
    HOUR,
    bound_by,
    budget,
    granted,
    settle,
    standing,
    take,
    used,
)

SLOT = "slot of an agent"


def lost(session: Session, *budgets: Budget, number: int = 0) -> Granted:
    """A grant of which only its worker knows."""
    places = tuple((bound.meter, bound.start) for bound in bound_by(budgets, session))
    return Granted(Slot(SLOT, number), session.ref, "agent", NOON, places)


def unheard(session: Session, number: int = 1) -> Granted:
    """A grant of which its worker has not heard whether the ledger made it."""
    return Granted(Slot(SLOT, number), session.ref, "agent", NOON, places=None)


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

    def test_a_grant_that_was_settled_before_it_is_stored_is_refused(self, ledger: Ledger) -> None:
        session, limit = born(ledger), budget()
        granted(ledger, session, limit, input_tokens=1)
        assert settle(ledger, unheard(session, 2), session)
        before = standing(ledger, session, limit)
        for number in (2, 1):
            with pytest.raises(LedgerBusy):
                take(ledger, session, limit, slot=Slot(SLOT, number), input_tokens=10)
        assert standing(ledger, session, limit) == before
        assert not settle(ledger, unheard(session, 2), session)
        assert standing(ledger, session, limit) == before
        granted(ledger, session, limit, slot=Slot(SLOT, 3), input_tokens=10)
        assert used(ledger, session, limit) == 11

    def test_a_grant_whose_slot_holds_it_or_a_later_one_is_refused(self, ledger: Ledger) -> None:
        session, limit = born(ledger), budget()
        granted(ledger, session, limit, slot=Slot(SLOT, 2), input_tokens=10)
        for number in (2, 1):
            with pytest.raises(LedgerBusy):
                take(ledger, session, limit, slot=Slot(SLOT, number), input_tokens=10)
        assert used(ledger, session, limit) == 10
        assert settle(ledger, unheard(session, 2), session)
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
