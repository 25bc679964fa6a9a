"""Who owes end-of-session work, and when is it tried?"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sexton.core.session import State
from sexton.finalizers.model import Due, DueVerdict
from sexton.finalizers.policy import (
    LONGEST_WISH,
    Owing,
    Rate,
    RetryPolicy,
    after_death,
    filled,
    next_try,
    rest_after,
    take,
    wait_for_one,
    why,
)
from sexton.rules.rulebook import Rulebook, decode, encode, owings
from tests.golden import golden

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
MEMORY = Owing(name="memory", spared=("cron",), min_messages=4)
STEADY = RetryPolicy(jitter=0)


def rows(owing: Owing) -> dict[Any, Any]:
    return {row["source"]: row["min_messages"] for row in owing.rows()}


def test_a_finalizer_without_sources_is_for_every_source_but_the_spared_ones() -> None:
    assert rows(MEMORY) == {"*": 4, "cron": None}


def test_a_source_that_is_named_is_not_spared() -> None:
    named = replace(MEMORY, sources=("cron", "cli"))
    assert rows(named) == {"cron": 4, "cli": 4}
    assert [named.includes(source) for source in ("cron", "cli", "chat")] == [True, True, False]


def test_every_verdict_of_the_ledger_has_words_of_its_own() -> None:
    due = Due(
        session=1, finalizer="memory", verdict=DueVerdict.OWES, since=3, through=4, least=9,
        state=State.ARCHIVED, source="cron", message_count=5, byte_count=0,
    )  # fmt: skip
    words = {verdict: why(replace(due, verdict=verdict)) for verdict in DueVerdict}
    assert len(set(words.values())) == len(DueVerdict)
    golden("why", "finalizers: every verdict", "\n".join(f"{v}: {words[v]}" for v in DueVerdict))


def test_each_wait_is_longer_than_the_one_before_until_it_is_given_up() -> None:
    waits = [next_try(attempt, STEADY, None, NOW, 0.5) for attempt in range(1, 15)]
    assert [wait and (wait - NOW) / SECOND for wait in waits] == [
        30, 60, 120, 240, 480, 960, 1920, 3840, 7680, 15360, 21600, 21600, 21600, None,
    ]  # fmt: skip


def test_an_endpoint_may_be_down_for_a_day_before_anything_is_given_up() -> None:
    waits = [next_try(attempt, STEADY, None, NOW, 0.0) for attempt in range(1, 14)]
    assert sum((wait - NOW for wait in waits if wait), timedelta()) > 24 * HOUR


def test_an_outage_is_met_by_ever_longer_rests_and_a_wish_is_heeded_within_reason() -> None:
    rests = [rest_after(outages, None) / SECOND for outages in (0, 1, 2, 3, 4, 5, 6, 10**6)]
    assert rests == [15, 15, 30, 60, 120, 240, 300, 300]
    assert rest_after(1, HOUR) == HOUR
    assert rest_after(9, SECOND) == 5 * MINUTE
    assert rest_after(1, timedelta.max) == LONGEST_WISH


def test_whoever_is_restarted_goes_on_at_once_and_what_may_kill_is_tried_ever_later() -> None:
    assert [after_death(crashes, NOW, 0.9) for crashes in (0, 1)] == [NOW] * 2
    waits = [(after_death(crashes, NOW, 0.5) - NOW) / SECOND for crashes in (2, 3, 4, 99)]
    assert waits == [10, 30, 90, 7290]
    assert after_death(4, NOW, 0.0) != after_death(4, NOW, 1.0)


def test_no_wait_is_longer_than_the_longest() -> None:
    patient = replace(STEADY, attempts=10**6)
    assert next_try(11, patient, None, NOW, 0.5) == NOW + 6 * HOUR
    assert next_try(10**5, patient, None, NOW, 0.5) == NOW + 6 * HOUR


def test_an_endpoint_that_asks_for_time_gets_it_within_reason() -> None:
    assert next_try(1, STEADY, HOUR, NOW, 0.5) == NOW + HOUR
    assert next_try(1, STEADY, SECOND, NOW, 0.5) == NOW + 30 * SECOND
    assert next_try(1, STEADY, timedelta.max, NOW, 0.5) == NOW + LONGEST_WISH
    assert next_try(14, STEADY, HOUR, NOW, 0.5) is None


def test_what_failed_together_is_not_tried_together() -> None:
    policy = RetryPolicy(jitter=0.5)
    tries = [next_try(1, policy, None, NOW, chance) for chance in (0, 0.5, 1)]
    assert tries == [NOW + seconds * SECOND for seconds in (30, 37.5, 45)]


def test_a_rate_gives_what_is_left_and_fills_up_with_time() -> None:
    rate = Rate(count=6)
    bucket, taken = take(filled(rate, 0), rate, 10, 0)
    assert (taken, wait_for_one(bucket, rate)) == (6, 10 * SECOND)
    bucket, taken = take(bucket, rate, 10, 9)
    assert (taken, round(wait_for_one(bucket, rate) / SECOND, 3)) == (0, 1)
    bucket, taken = take(bucket, rate, 1, 25)
    assert taken == 1
    assert wait_for_one(bucket, rate) == 0 * SECOND, "another one is there"
    _, taken = take(bucket, rate, 10, 3600)
    assert taken == 6


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 90)), max_size=30), st.integers(1, 9))
def test_no_span_sees_more_than_twice_the_rate(steps: list[tuple[int, int]], count: int) -> None:
    rate, now, given_at = Rate(count=count), 0.0, []
    bucket = filled(rate, now)
    for wanted, seconds in steps:
        now += seconds
        bucket, taken = take(bucket, rate, wanted, now)
        assert taken <= wanted
        given_at += [now] * taken
    for start in given_at:
        assert sum(start <= each < start + 60 for each in given_at) <= 2 * count


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
