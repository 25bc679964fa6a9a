"""What every ledger promises about what people set, allow and are told of budgets."""

from __future__ import annotations

from datetime import timedelta

from sexton.core.plan import Reason
from sexton.spending.model import Act, Budget, Mark, Meter, Refused, Scope, Taken, Unit, Who
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_samples import NOON, at, born, entry, journal
from tests.contract.ledger_contract_spending_samples import (
    HOUR,
    bound_by,
    budget,
    granted,
    meter_of_session,
    settle,
    standing,
    take,
    used,
    who,
)


class SpendingPeopleContract:
    """A person's word about one meter, and what is told about it."""

    def test_a_limit_of_its_own_takes_the_place_of_the_rules(self, ledger: Ledger) -> None:
        session, other, limit = born(ledger), born(ledger, "other"), budget(limit=100)
        own = budget(limit=30, action=Act.KILL)
        granted(ledger, other, limit, input_tokens=1)
        ledger.spending.cap(meter_of_session(session), own, entry(session, action="set"), NOON)
        refused = take(ledger, session, limit, input_tokens=31)
        assert isinstance(refused, Refused)
        assert (refused.budget.limit, refused.budget.action) == (30, Act.KILL)
        assert granted(ledger, other, limit, input_tokens=31)
        assert journal(ledger, session)[0].action == "set"
        ledger.spending.cap(meter_of_session(session), None, entry(session), at(1))
        assert granted(ledger, session, limit, input_tokens=31)

    def test_a_limit_of_its_own_needs_no_rule(self, ledger: Ledger) -> None:
        session = born(ledger, source="cron")
        meters = (
            Meter(Scope.SESSION, str(session.ref), Unit.INPUT),
            Meter(Scope.TREE, str(session.ref), Unit.TOKENS, "3600s"),
            Meter(Scope.SOURCE, "cron", Unit.OUTPUT),
        )
        for meter in meters:
            ledger.spending.cap(meter, budget(meter.scope, 10), entry(), NOON)
            assert isinstance(take(ledger, session, input_tokens=11, output_tokens=11), Refused)
            [found] = ledger.spending.look(who(session), session.epoch, (), NOON) or []
            assert found.bound.meter == meter
            ledger.spending.cap(meter, None, entry(), NOON)
            taken = take(ledger, session, input_tokens=11, output_tokens=11)
            assert taken == Taken(grant=None, standings=())
        assert ledger.spending.standing(who(session), (), NOON) == []

    def test_a_limit_of_its_own_is_for_what_it_names_only(self, ledger: Ledger) -> None:
        root, child = born(ledger), born(ledger, None, source="17")
        named = Who(child.ref, root.ref, "chat")
        for meter in (
            Meter(Scope.TREE, str(child.ref), Unit.TOKENS),
            Meter(Scope.SOURCE, str(child.ref), Unit.TOKENS),
            Meter(Scope.SESSION, str(root.ref), Unit.TOKENS),
            Meter(Scope.SESSION, "chat", Unit.TOKENS),
        ):
            ledger.spending.cap(meter, budget(limit=1), entry(), NOON)
        assert ledger.spending.standing(named, (), NOON) == []

    def test_a_limit_lowered_below_what_is_spent_lets_nothing_more_through(
        self, ledger: Ledger
    ) -> None:
        session, limit = born(ledger), budget(limit=100)
        grant = granted(ledger, session, limit, input_tokens=90)
        settle(ledger, grant, session, input_tokens=90)
        own = budget(limit=10)
        ledger.spending.cap(meter_of_session(session), own, entry(session), NOON)
        found = standing(ledger, session, limit)
        assert (found.spent, found.bound.limit()) == (90, _like(found.bound.limit(), 10))
        assert isinstance(take(ledger, session, limit, input_tokens=1), Refused)

    def test_what_is_allowed_beyond_the_limit_can_be_spent(self, ledger: Ledger) -> None:
        session, limit = born(ledger), budget(limit=100)
        granted(ledger, session, limit, input_tokens=100)
        [bound] = bound_by([limit], session)
        ledger.spending.add(bound, 50, entry(session, action="raise"), NOON)
        assert granted(ledger, session, limit, input_tokens=50)
        assert isinstance(take(ledger, session, limit, input_tokens=1), Refused)
        assert standing(ledger, session, limit).added == 50
        assert journal(ledger, session)[0].action == "raise"
        ledger.spending.add(bound, 5, entry(session), NOON)
        assert standing(ledger, session, limit).added == 55

    def test_a_new_limit_is_meant_as_it_is_said_whatever_was_allowed_before(
        self, ledger: Ledger
    ) -> None:
        session, other, limit = born(ledger), born(ledger, "other"), budget(limit=100)
        for each in (session, other):
            [bound] = bound_by([limit], each)
            ledger.spending.add(bound, 50, entry(each), NOON)
        ledger.spending.cap(meter_of_session(session), budget(limit=30), entry(session), NOON)
        assert isinstance(take(ledger, session, limit, input_tokens=31), Refused)
        assert standing(ledger, other, limit).added == 50

    def test_whoever_spends_learns_from_a_look_that_the_session_is_not_there_any_more(
        self, ledger: Ledger
    ) -> None:
        session, limit = born(ledger), budget()
        assert born(ledger, "other").epoch == session.epoch
        granted(ledger, session, limit, input_tokens=10)
        bounds = bound_by([limit], session)
        [found] = ledger.spending.look(who(session), session.epoch, bounds, NOON) or []
        assert found == standing(ledger, session, limit)
        assert ledger.spending.look(who(session), session.epoch + 1, bounds, NOON) is None
        ledger.book.end_now(session, "over", NOON, entry(session))
        assert ledger.spending.look(who(session), session.epoch, bounds, NOON) is None

    def test_what_its_home_goes_on_with_after_the_end_counts_and_is_bounded(
        self, ledger: Ledger
    ) -> None:
        session, own = born(ledger), budget(limit=30)
        limits, tree = bound_by([budget()], session), budget(Scope.TREE, 100)
        granted(ledger, session, tree, input_tokens=20)
        ledger.spending.cap(meter_of_session(session), own, entry(session), NOON)
        ledger.book.end_now(session, "idle", NOON, entry(session))
        assert isinstance(take(ledger, session, budget(), tree, input_tokens=31), Refused)
        assert granted(ledger, session, budget(), tree, input_tokens=20)
        assert isinstance(take(ledger, session, budget(), tree, input_tokens=11), Refused)
        found = ledger.spending.look(who(session), None, limits, NOON)
        assert [each.used for each in found or []] == [20]
        every = ledger.spending.standing(who(session), bound_by([tree], session), NOON)
        assert sorted(each.used for each in every) == [20, 40]

    def test_the_number_of_a_grant_is_never_used_again(self, ledger: Ledger) -> None:
        session, limit = born(ledger), budget()
        first = granted(ledger, session, limit, input_tokens=1)
        settle(ledger, first, session, input_tokens=1)
        second = granted(ledger, session, limit, input_tokens=1)
        assert second != first
        assert not settle(ledger, first, session, input_tokens=1)

    def test_what_is_allowed_in_a_rolling_span_passes_with_it(self, ledger: Ledger) -> None:
        session, limit = born(ledger), budget(Scope.TREE, per=HOUR)
        [bound] = bound_by([limit], session)
        ledger.spending.add(bound, 50, entry(session), NOON)
        assert granted(ledger, session, limit, input_tokens=150)
        later = NOON + 2 * HOUR
        assert isinstance(take(ledger, session, limit, now=later, input_tokens=101), Refused)
        assert granted(ledger, session, limit, now=later, input_tokens=100)

    def test_what_was_spent_before_still_counts_when_more_is_allowed(self, ledger: Ledger) -> None:
        session, limit = born(ledger), budget(limit=100)
        settle(ledger, None, session, input_tokens=90)
        [bound] = bound_by([limit], session)
        ledger.spending.add(bound, 50, entry(session), NOON)
        assert used(ledger, session, limit) == 40

    def test_each_limit_is_told_of_once_and_again_after_a_person_has_spoken(
        self, ledger: Ledger
    ) -> None:
        session, other, limit = born(ledger), born(ledger, "other"), budget()
        for each in (session, other):
            granted(ledger, each, limit, input_tokens=90)
        counter = standing(ledger, session, limit).counter
        near = entry(session, action="warn", reason=Reason("near", "90 of 100"))

        def told(*, is_stop: bool = False, limit: int = 100, before: float = -1) -> bool:
            mark = Mark(counter, is_stop, limit, at(before))
            return ledger.spending.mark(mark, near, NOON)

        assert told()
        assert not told()
        assert told(limit=200)
        assert told(is_stop=True)
        assert not told(is_stop=True)
        assert told(before=1)
        assert told(is_stop=True, before=1)
        assert len(journal(ledger, session)) == 5
        theirs = standing(ledger, other, limit).counter
        assert ledger.spending.mark(Mark(theirs, False, 1, at(-1)), near, NOON)
        assert ledger.spending.mark(Mark(theirs, True, 1, at(-1)), near, NOON)
        [bound] = bound_by([limit], session)
        ledger.spending.add(bound, 1, entry(session), NOON)
        assert told()
        assert told(is_stop=True)
        assert not ledger.spending.mark(Mark(theirs, False, 1, at(-1)), near, NOON)
        ledger.spending.cap(bound.meter, None, entry(session), NOON)
        assert told()

    def test_a_counter_with_a_limit_of_its_own_is_not_forgotten(self, ledger: Ledger) -> None:
        session = born(ledger)
        own = budget(limit=10)
        ledger.spending.cap(meter_of_session(session), own, entry(session), NOON)
        ledger.spending.free(NOON + timedelta(days=1000))
        assert isinstance(take(ledger, session, input_tokens=11), Refused)


def _like(found: Budget | None, limit: int) -> Budget | None:
    assert found is not None
    assert found.limit == limit
    return found
