"""Which budgets bound a session, and where is their spending counted?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexton.liveness.policy import UNATTENDED
from sexton.spending.budgets import (
    action_of,
    bounds,
    free_from,
    nearly,
    said,
    shown,
    span_of,
    tokens,
    turn_limits,
)
from sexton.spending.model import Act, Bound, Budget, Meter, Scope, Unit, Who
from sexton.spending.policy import DEFAULTS
from tests.golden import golden

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
WHO = Who(7, 3, "telegram")


def budget(scope: Scope, limit: int = 100, **more: object) -> Budget:
    given_: dict[str, object] = {"name": "b", "unit": Unit.TOKENS, **more}
    return Budget(scope=scope, limit=limit, **given_)  # type: ignore[arg-type]  # by name


def meters(*budgets: Budget, who: Who = WHO, now: datetime = NOON) -> list[Meter]:
    return [each.meter for each in bounds(budgets, who, "Europe/Berlin", now)]


def test_each_scope_is_counted_where_it_belongs() -> None:
    found = meters(*(budget(scope) for scope in Scope))
    assert found == [
        Meter(Scope.DAY, "", Unit.TOKENS, "2026-11-16"),
        Meter(Scope.SESSION, "7", Unit.TOKENS),
        Meter(Scope.SOURCE, "telegram", Unit.TOKENS),
        Meter(Scope.TREE, "3", Unit.TOKENS),
    ]


def test_a_budget_for_other_sources_bounds_nothing_and_counts_apart() -> None:
    for_cron = [budget(scope, sources=("cron", "batch")) for scope in Scope]
    assert meters(*for_cron) == []
    found = meters(*for_cron, who=Who(7, 3, "cron"))
    assert [each.subject for each in found] == ["@batch,cron", "7", "cron", "3@batch,cron"]


def test_two_limits_on_the_same_thing_are_counted_once_and_the_lower_one_acts() -> None:
    warns = budget(Scope.SESSION, 50, action=Act.WARN)
    kills, pauses = budget(Scope.SESSION, 90, action=Act.KILL), budget(Scope.SESSION, 100)
    [found] = bounds((pauses, warns, kills), WHO, "UTC", NOON)
    assert found.limit() == kills
    assert nearly(found.budgets, 39) == []
    assert nearly(found.budgets, 40) == [warns]
    assert nearly(found.budgets, 80) == [warns, kills, pauses]
    assert nearly(found.budgets, 40, added=1) == []
    assert Bound(meter=found.meter, budgets=(warns,)).limit() is None


def test_a_day_is_one_of_the_users_time_zone() -> None:
    late = datetime(2026, 11, 16, 23, 30, tzinfo=UTC)
    day = budget(Scope.DAY)
    assert meters(day, now=late)[0].period == "2026-11-17"
    [found] = bounds((day,), WHO, "Europe/Berlin", late)
    assert found.until == datetime(2026, 11, 17, 23, tzinfo=UTC)


def test_a_clock_that_is_put_back_finds_the_day_of_before_again() -> None:
    day, later = budget(Scope.DAY), NOON + timedelta(days=2)
    assert meters(day) == meters(day, now=NOON) != meters(day, now=later)


@given(st.integers(0, 10**15), st.integers(1, 10**7), st.floats(0, 1))
def test_all_that_was_spent_within_a_span_counts_wherever_it_begins(
    micros: int, seconds: int, share: float
) -> None:
    per, now = timedelta(seconds=seconds), NOON + timedelta(microseconds=micros)
    earlier = now - per * share
    _, since = span_of(per, now)
    spent_in, _ = span_of(per, earlier)
    assert spent_in >= since


def test_a_span_has_room_again_when_its_oldest_slice_has_passed() -> None:
    [found] = bounds((budget(Scope.TREE, per=HOUR),), WHO, "UTC", NOON)
    assert found.start - found.since == HOUR // timedelta(microseconds=1)
    free = free_from(found, found.start)
    assert free == NOON + HOUR + timedelta(minutes=5)
    [later] = bounds((budget(Scope.TREE, per=HOUR),), WHO, "UTC", free)
    assert later.since > found.start
    assert free_from(found, None) is None


@pytest.mark.parametrize("source", UNATTENDED)
def test_a_pause_kills_where_nobody_is_there(source: str) -> None:
    assert action_of(budget(Scope.TREE), source) is Act.KILL
    assert action_of(budget(Scope.TREE), "telegram") is Act.PAUSE
    assert action_of(budget(Scope.TREE, action=Act.RESET), source) is Act.RESET


def test_tokens_of_all_kinds_are_tokens() -> None:
    amounts = {Unit.INPUT: 1, Unit.OUTPUT: 2, Unit.CACHED: 4, Unit.REASONING: 8}
    assert tokens(amounts)[Unit.TOKENS] == 15
    assert tokens({Unit.ITERATIONS: 1}) == {Unit.ITERATIONS: 1}


def test_amounts_are_said_as_people_say_them() -> None:
    assert shown(Unit.USD, 12_345_678) == "$12.35"
    assert shown(Unit.USD, 4_500) == "$0.0045"
    assert shown(Unit.USD, 1) == "$0.000001"
    assert shown(Unit.USD, 0) == "$0.00"
    golden("budgets", "one tool call", shown(Unit.TOOL_CALLS, 1))
    assert shown(Unit.WALL, 90_000) == "90 s"
    golden("budgets", "a tree's tokens in an hour", said(DEFAULTS[1], 4_000_000))


def test_the_budgets_of_a_turn_are_those_of_its_source() -> None:
    own = budget(Scope.TURN, sources=("cron",))
    assert list(turn_limits((*DEFAULTS, own), "telegram")) == [DEFAULTS[0]]
    assert list(turn_limits((*DEFAULTS, own), "cron")) == [DEFAULTS[0], own]
