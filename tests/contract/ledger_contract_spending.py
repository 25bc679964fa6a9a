"""What every ledger promises about what is spent."""

from __future__ import annotations

from datetime import datetime, timedelta

from sexton.core.record import replace
from sexton.core.usage import Usage
from sexton.spending.model import Act, Refused, Scope, Spend, Taken, Unit
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_samples import (
    NOON,
    born,
    enrol,
    entry,
    reread,
    say,
)
from tests.contract.ledger_contract_spending_samples import (
    DAY,
    HOUR,
    bound_by,
    budget,
    granted,
    settle,
    spend,
    standing,
    take,
    used,
    who,
)


class SpendingContract:
    """Nothing is spent beyond a limit, and nothing that was spent is forgotten."""

    def test_what_fits_is_granted_and_what_does_not_is_refused(self, ledger: Ledger) -> None:
        enrol(ledger, "agent")
        session, limit = born(ledger), budget()
        assert granted(ledger, session, limit, input_tokens=60)
        refused = take(ledger, session, limit, input_tokens=41)
        assert isinstance(refused, Refused)
        assert (refused.budget, refused.standing.used) == (limit, 60)
        assert granted(ledger, session, limit, input_tokens=40)
        assert used(ledger, session, limit) == 100

    def test_a_refusal_changes_nothing_in_any_meter(self, ledger: Ledger) -> None:
        session = born(ledger)
        wide, narrow = budget(limit=100), budget(Scope.TREE, 10)
        assert isinstance(take(ledger, session, wide, narrow, input_tokens=11), Refused)
        assert used(ledger, session, wide) == used(ledger, session, narrow) == 0

    def test_what_was_really_used_takes_the_place_of_what_was_held(self, ledger: Ledger) -> None:
        session, other, limit = born(ledger), born(ledger, "other"), budget()
        grant = granted(ledger, session, limit, input_tokens=60, output_tokens=20)
        assert settle(ledger, grant, session, input_tokens=50, output_tokens=5, cached_tokens=1)
        found = standing(ledger, session, limit)
        assert (found.spent, found.reserved) == (56, 0)
        assert reread(ledger, other).usage == Usage()
        usage = Usage(input_tokens=50, output_tokens=5, cached_tokens=1)
        assert reread(ledger, session).usage == usage

    def test_more_than_was_granted_is_counted_all_the_same(self, ledger: Ledger) -> None:
        session, limit = born(ledger), budget()
        grant = granted(ledger, session, limit, input_tokens=10)
        assert settle(ledger, grant, session, input_tokens=150, usd=7, reasoning_tokens=1)
        assert used(ledger, session, limit) == 151
        assert reread(ledger, session).usage.cost_micros == 7
        assert reread(ledger, session).usage.reasoning_tokens == 1
        assert isinstance(take(ledger, session, limit, input_tokens=1), Refused)

    def test_a_grant_is_settled_once(self, ledger: Ledger) -> None:
        session, limit = born(ledger), budget()
        grant = granted(ledger, session, limit, input_tokens=10)
        other = granted(ledger, session, limit, input_tokens=20)
        assert settle(ledger, grant, session, input_tokens=10)
        assert not settle(ledger, grant, session, input_tokens=10)
        assert reread(ledger, session).usage.input_tokens == 10
        assert used(ledger, session, limit) == 30
        assert settle(ledger, other, session)
        assert used(ledger, session, limit) == 10

    def test_what_is_released_can_be_granted_again(self, ledger: Ledger) -> None:
        session, limit = born(ledger), budget()
        grant = granted(ledger, session, limit, input_tokens=100)
        assert settle(ledger, grant, session)
        assert used(ledger, session, limit) == 0
        assert granted(ledger, session, limit, input_tokens=100)

    def test_each_unit_has_a_meter_of_its_own(self, ledger: Ledger) -> None:
        session = born(ledger)
        limits = [budget(limit=1000, unit=unit) for unit in (Unit.INPUT, Unit.OUTPUT, Unit.CACHED)]
        grant = granted(ledger, session, *limits, input_tokens=1, output_tokens=2)
        assert settle(ledger, grant, session, input_tokens=10, output_tokens=20, cached_tokens=40)
        assert [used(ledger, session, limit) for limit in limits] == [10, 20, 40]

    def test_what_is_spent_at_once_needs_no_settling(self, ledger: Ledger) -> None:
        session, limit = born(ledger), budget(limit=2, unit=Unit.TOOL_CALLS)
        for count in (1, 2):
            taken = spend(ledger, session, limit, tool_calls=1)
            assert isinstance(taken, Taken)
            assert (taken.grant, taken.standings[0].used) == (None, count)
        assert isinstance(spend(ledger, session, limit, tool_calls=1), Refused)
        assert used(ledger, session, limit) == 2

    def test_a_budget_that_only_warns_refuses_nothing(self, ledger: Ledger) -> None:
        session, limit = born(ledger), budget(action=Act.WARN)
        assert granted(ledger, session, limit, input_tokens=500)
        assert used(ledger, session, limit) == 500

    def test_what_has_happened_already_is_counted_beyond_the_limit(self, ledger: Ledger) -> None:
        session, limit = born(ledger), budget(limit=5, unit=Unit.WALL)
        bound = bound_by([limit], session)
        wanted = Spend(
            who=who(session), worker="agent", bounds=bound, at_once={Unit.WALL: 9}, limited=False
        )
        assert isinstance(ledger.spending.take(wanted, NOON), Taken)
        assert used(ledger, session, limit) == 9

    def test_nothing_is_granted_to_a_session_that_has_ended_or_was_taken_over(
        self, ledger: Ledger
    ) -> None:
        session, limit = born(ledger), budget()
        bound = bound_by([limit], session)
        wanted = Spend(
            who=who(session), worker="agent", bounds=bound, at_once={Unit.TOKENS: 1}, epoch=1
        )
        assert isinstance(ledger.spending.take(wanted, NOON), Taken)
        assert ledger.spending.take(replace(wanted, epoch=2), NOON) is None
        assert ledger.book.end_now(session, "closed", NOON)
        assert ledger.spending.take(wanted, NOON) is None
        assert used(ledger, session, limit) == 1

    def test_sessions_trees_and_sources_are_counted_apart(self, ledger: Ledger) -> None:
        one, other = born(ledger, "one"), born(ledger, "two", source="cron")
        for scope in (Scope.SESSION, Scope.TREE, Scope.SOURCE):
            limit = budget(scope)
            granted(ledger, one, limit, input_tokens=60)
            granted(ledger, other, limit, input_tokens=70)
            assert [used(ledger, each, limit) for each in (one, other)] == [60, 70]
            assert isinstance(take(ledger, one, limit, input_tokens=60), Refused)
        third = born(ledger, "three", source="cron")
        assert used(ledger, third, budget(Scope.SOURCE)) == 70

    def test_each_meter_has_a_counter_of_its_own(self, ledger: Ledger) -> None:
        session, other = born(ledger), born(ledger, "other")
        limits = [
            budget(),
            budget(unit=Unit.INPUT),
            budget(Scope.TREE),
            budget(Scope.TREE, per=HOUR),
        ]
        first = {other.id: 1, session.id: 11}
        for each in (other, session):
            for amount, limit in enumerate(limits, first[each.id]):
                granted(ledger, each, limit, input_tokens=amount)
        for each in (session, other):
            found = [used(ledger, each, limit) for limit in limits]
            assert found == list(range(first[each.id], first[each.id] + 4))

    def test_a_day_begins_anew_and_a_grant_counts_on_the_day_it_was_made(
        self, ledger: Ledger
    ) -> None:
        session, limit = born(ledger), budget(Scope.DAY)
        grant = granted(ledger, session, limit, input_tokens=90)
        tomorrow = NOON + DAY
        granted(ledger, session, limit, now=tomorrow, input_tokens=80)
        assert settle(ledger, grant, session, input_tokens=95)
        assert used(ledger, session, limit) == 95
        assert used(ledger, session, limit, now=tomorrow) == 80
        back = take(ledger, session, limit, input_tokens=6)  # the clock is put back
        assert isinstance(back, Refused)

    def test_no_span_of_an_hour_holds_more_than_the_limit(self, ledger: Ledger) -> None:
        session, limit = born(ledger), budget(Scope.TREE, per=HOUR)
        when: list[datetime] = []
        for minute in range(0, 300, 3):
            now = NOON + timedelta(minutes=minute)
            if isinstance(take(ledger, session, limit, now=now, input_tokens=10), Taken):
                when.append(now)
        for first in when:
            assert sum(first <= each < first + HOUR for each in when) <= 10
        assert len(when) >= 40

    def test_a_clock_that_ran_ahead_blocks_a_span_no_longer_than_twice_its_length(
        self, ledger: Ledger
    ) -> None:
        session, limit = born(ledger), budget(Scope.TREE, per=HOUR)
        assert granted(ledger, session, limit, now=NOON + HOUR / 2, input_tokens=100)
        assert isinstance(take(ledger, session, limit, input_tokens=1), Refused)
        far = budget(Scope.SESSION, per=HOUR)
        assert granted(ledger, session, far, now=NOON + DAY, input_tokens=100)
        assert granted(ledger, session, far, input_tokens=100)
        assert used(ledger, session, far) == used(ledger, session, far, now=NOON + DAY) == 100

    def test_the_first_slice_with_spending_is_told(self, ledger: Ledger) -> None:
        session, limit = born(ledger), budget(Scope.TREE, per=HOUR)
        [earlier] = bound_by([limit], session, NOON - HOUR / 2)
        ledger.spending.add(earlier, 50, entry(session), NOON)
        granted(ledger, session, limit, input_tokens=50)
        later = NOON + HOUR / 3
        granted(ledger, session, limit, now=later, input_tokens=50)
        [first] = bound_by([limit], session)
        assert standing(ledger, session, limit, now=later).oldest == first.start
        refused = take(ledger, session, limit, now=later, input_tokens=51)
        assert isinstance(refused, Refused)
        assert refused.standing.oldest == first.start

    def test_what_a_session_had_spent_before_it_got_a_limit_counts(self, ledger: Ledger) -> None:
        session = born(ledger)
        say(ledger, session, "one", "two")
        assert settle(ledger, None, session, input_tokens=60, output_tokens=30, usd=5)
        limit = budget()
        assert used(ledger, session, limit) == 90
        assert isinstance(take(ledger, session, limit, input_tokens=11), Refused)
        assert granted(ledger, session, limit, input_tokens=10)
        assert used(ledger, session, limit) == 100
        found = [
            used(ledger, session, budget(unit=unit))
            for unit in (Unit.INPUT, Unit.OUTPUT, Unit.CACHED, Unit.USD, Unit.MESSAGES)
        ]
        assert found == [60, 30, 0, 5, 2]
        assert used(ledger, born(ledger, "other"), limit) == 0
