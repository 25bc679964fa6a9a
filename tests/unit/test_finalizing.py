"""Who owes end-of-session work, and when is it tried?"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexton.model.session import Session, State
from sexton.policies.finalizing import (
    LONGEST_WISH,
    OWES,
    Owing,
    Rate,
    RetryPolicy,
    filled,
    next_try,
    ready_at,
    take,
    why,
)
from sexton.policies.rulebook import Rulebook, decode, encode, owings

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
MEMORY = Owing(name="memory", spared=("cron",), min_messages=4)
OVER = Session(
    ref=1, home="native", id="s", key=None, source="chat", state=State.ENDED, started_at=NOW,
    active_at=NOW, ended_at=NOW, end_reason="idle", message_count=4,
)  # fmt: skip
STEADY = RetryPolicy(jitter=0)


def rows(owing: Owing) -> dict[Any, Any]:
    return {row["source"]: row["min_messages"] for row in owing.rows()}


def test_a_finalizer_without_sources_is_for_every_source_but_the_spared_ones() -> None:
    assert rows(MEMORY) == {"*": 4, "cron": None}


def test_a_source_that_is_named_is_not_spared() -> None:
    named = replace(MEMORY, sources=("cron", "cli"))
    assert rows(named) == {"cron": 4, "cli": 4}
    assert [named.includes(source) for source in ("cron", "cli", "chat")] == [True, True, False]


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        ({}, OWES),
        ({"state": State.FINALIZED}, OWES),
        ({"state": State.OPEN, "ended_at": None}, "open"),
        ({"state": State.ARCHIVED}, "put_away"),
        ({"end_reason": "compression"}, "compression"),
        ({"source": "cron"}, "other_source"),
        ({"message_count": 3}, "too_short"),
    ],
)
def test_what_a_session_owes_has_a_reason(facts: dict[str, Any], code: str) -> None:
    assert why(replace(OVER, **facts), MEMORY).code == code


def test_what_is_covered_is_not_owed_again() -> None:
    assert why(OVER, MEMORY, since=3).text == "1 messages are for memory"
    assert why(OVER, MEMORY, since=4).code == "nothing_new"


def test_each_wait_is_longer_than_the_one_before_until_it_is_given_up() -> None:
    waits = [next_try(attempt, STEADY, None, NOW, 0.5) for attempt in range(1, 9)]
    assert [wait and (wait - NOW) / SECOND for wait in waits] == [
        30, 60, 120, 240, 480, 960, 1920, None,
    ]  # fmt: skip


def test_no_wait_is_longer_than_the_longest() -> None:
    patient = replace(STEADY, attempts=10**6)
    assert next_try(11, patient, None, NOW, 0.5) == NOW + 6 * HOUR
    assert next_try(10**5, patient, None, NOW, 0.5) == NOW + 6 * HOUR


def test_an_endpoint_that_asks_for_time_gets_it_within_reason() -> None:
    assert next_try(1, STEADY, HOUR, NOW, 0.5) == NOW + HOUR
    assert next_try(1, STEADY, SECOND, NOW, 0.5) == NOW + 30 * SECOND
    assert next_try(1, STEADY, timedelta.max, NOW, 0.5) == NOW + LONGEST_WISH
    assert next_try(8, STEADY, HOUR, NOW, 0.5) is None


def test_what_failed_together_is_not_tried_together() -> None:
    policy = RetryPolicy(jitter=0.5)
    tries = [next_try(1, policy, None, NOW, chance) for chance in (0, 0.5, 1)]
    assert tries == [NOW + seconds * SECOND for seconds in (30, 37.5, 45)]


def test_a_rate_gives_what_is_left_and_fills_up_with_time() -> None:
    rate = Rate(count=6)
    bucket, taken = take(filled(rate, NOW), rate, 10, NOW)
    assert (taken, ready_at(bucket, rate)) == (6, NOW + 10 * SECOND)
    bucket, taken = take(bucket, rate, 10, NOW + 9 * SECOND)
    assert (taken, ready_at(bucket, rate)) == (0, NOW + 10 * SECOND)
    bucket, taken = take(bucket, rate, 1, NOW + 25 * SECOND)
    assert taken == 1
    assert ready_at(bucket, rate) == NOW + 25 * SECOND, "another one is there"
    _, taken = take(bucket, rate, 10, NOW + HOUR)
    assert taken == 6


def test_a_clock_that_is_put_back_fills_nothing() -> None:
    rate = Rate(count=6)
    bucket, _ = take(filled(rate, NOW), rate, 6, NOW)
    bucket, taken = take(bucket, rate, 1, NOW - HOUR)
    assert (taken, ready_at(bucket, rate)) == (0, NOW + 10 * SECOND)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 90)), max_size=30), st.integers(1, 9))
def test_no_span_sees_more_than_twice_the_rate(steps: list[tuple[int, int]], count: int) -> None:
    rate, now, given_at = Rate(count=count), NOW, []
    bucket = filled(rate, now)
    for wanted, seconds in steps:
        now += seconds * SECOND
        bucket, taken = take(bucket, rate, wanted, now)
        assert taken <= wanted
        given_at += [now] * taken
    for start in given_at:
        assert sum(start <= each < start + MINUTE for each in given_at) <= 2 * count


names = st.lists(st.text(max_size=8), max_size=3).map(tuple)
rules = st.builds(
    Owing, name=st.text(), sources=names, spared=names, min_messages=st.integers(0, 2**40)
)


@given(st.lists(rules, max_size=3).map(tuple))
def test_who_owes_what_comes_back_from_the_ledger_as_it_went_in(finalizers: Any) -> None:
    text = encode(Rulebook(finalizers=finalizers))
    assert decode(text).finalizers == owings(text) == finalizers


def test_rules_of_an_older_version_have_no_finalizers_and_the_same_text() -> None:
    text = encode(Rulebook())
    assert "finalizers" not in text
    assert decode(text) == Rulebook()
    assert owings(text) == owings("no rules at all") == owings("7") == ()
