"""Which rule applies to a session, and do all keepers read the same rules?"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from sexton.core.session import Session
from sexton.finalizers.policy import Owing
from sexton.liveness.policy import LivenessPolicy
from sexton.processes.handling import Handling, ProcessPolicy
from sexton.resets.policy import Mode, ResetPolicy
from sexton.retention.policy import Fate, Protection, Retention, RetentionClass
from sexton.rules.rulebook import ResetRule, Rulebook, decode, digest, encode
from sexton.spending.model import Act, Budget, Scope, Unit
from sexton.spending.policy import BreakerPolicy, Price, Prices, RunawayPolicy, SpendRules

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BORN = Session(ref=1, home="native", id="s", key=None, source="x", started_at=NOW, active_at=NOW)


def a_session(source: str = "telegram", chat_type: str | None = None, key: str = "k") -> Session:
    return replace(BORN, source=source, chat_type=chat_type, key=key)


def a_rule(minutes: int, **match: tuple[str, ...]) -> ResetRule:
    return ResetRule(policy=ResetPolicy(mode=Mode.IDLE, idle_minutes=minutes), **match)


def minutes(rules: list[ResetRule], session: Session) -> int:
    return Rulebook(reset_rules=tuple(rules)).reset_policy(session).idle_minutes


def test_a_session_that_no_rule_names_gets_the_default() -> None:
    assert minutes([a_rule(5, sources=("cron",))], a_session()) == 1440


def test_a_key_outranks_a_source_and_a_source_outranks_a_chat_type() -> None:
    rules = [
        a_rule(1, keys=("k*",)),
        a_rule(2, sources=("telegram",)),
        a_rule(3, chat_types=("group",)),
    ]
    assert minutes(rules, a_session(chat_type="group")) == 1
    assert minutes(rules, a_session(chat_type="group", key="other")) == 2
    assert minutes(rules, a_session("slack", chat_type="group", key="other")) == 3


def test_a_rule_that_names_more_outranks_one_that_names_less() -> None:
    rules = [
        a_rule(1, sources=("telegram",), chat_types=("group",)),
        a_rule(2, sources=("telegram",)),
    ]
    assert minutes(rules, a_session(chat_type="group")) == 1
    assert minutes(rules, a_session(chat_type="dm")) == 2


def test_of_two_key_patterns_the_more_literal_one_wins() -> None:
    rules = [a_rule(1, keys=("agent:main:*",)), a_rule(2, keys=("agent:*",))]
    assert minutes(rules, a_session(key="agent:main:telegram")) == 1


def test_of_equal_rules_the_later_one_wins() -> None:
    rules = [a_rule(1, sources=("telegram",)), a_rule(2, sources=("telegram",))]
    assert minutes(rules, a_session()) == 2


policies = st.builds(
    ResetPolicy,
    mode=st.sampled_from(Mode),
    idle_minutes=st.integers(1, 10_000),
    max_age=st.none() | st.timedeltas(timedelta(0), timedelta(days=1000)),
    max_messages=st.none() | st.integers(1),
    warn_at=st.floats(0.01, 0.99),
    warn_messages=st.none() | st.integers(1),
    warn_bytes=st.none() | st.integers(1),
)
names = st.lists(st.text(max_size=8), max_size=3).map(tuple)
spans = st.none() | st.timedeltas(timedelta(0), timedelta(days=1000))
classes = st.builds(
    RetentionClass,
    sources=names,
    on_reset=st.sampled_from(Fate),
    max_age=spans,
    keep_last=st.none() | st.integers(1),
    protect=st.lists(st.sampled_from(Protection), max_size=3).map(tuple),
    after_delivery=st.sampled_from(Fate),
    database_only=st.booleans(),
    rows=st.sampled_from(Fate),
    rows_max_age=spans,
)
books = st.builds(
    Rulebook,
    reset=policies,
    reset_rules=st.lists(
        st.builds(ResetRule, sources=names, chat_types=names, keys=names, policy=policies),
        max_size=3,
    ).map(tuple),
    liveness=st.builds(LivenessPolicy, dies_with_owner=names),
    processes=st.builds(
        ProcessPolicy,
        on_idle_reset=st.sampled_from(Handling),
        on_reap=st.sampled_from(Handling),
        ttl=st.none() | st.timedeltas(timedelta(seconds=1), timedelta(days=1000)),
        grace=st.timedeltas(timedelta(seconds=1), timedelta(days=1000)),
    ),
    retention=st.builds(
        Retention, general=classes, classes=st.lists(classes, max_size=2).map(tuple)
    ),
)


@given(books)
def test_a_rulebook_comes_back_from_the_ledger_as_it_went_in(rules: Rulebook) -> None:
    assert decode(encode(rules)) == rules
    assert digest(encode(decode(encode(rules)))) == digest(encode(rules))


def test_what_a_newer_version_added_is_ignored() -> None:
    text = encode(Rulebook()).replace('"reset":{', '"novelty":1,"reset":{"novelty":2,')
    assert decode(text) == Rulebook()


def test_a_handling_of_a_newer_version_stops_nothing() -> None:
    text = encode(Rulebook(processes=ProcessPolicy(on_end=Handling.STOP))).replace("stop", "bury")
    assert decode(text).processes == ProcessPolicy()


def test_rules_that_say_nothing_of_processes_are_the_text_they_always_were() -> None:
    assert "processes" not in encode(Rulebook())
    assert "processes" in encode(Rulebook(processes=ProcessPolicy(on_end=Handling.KEEP)))


def test_the_usual_retention_leaves_the_text_as_older_versions_write_it() -> None:
    assert "retention" not in encode(Rulebook())
    other = Rulebook(retention=Retention(general=RetentionClass(max_age=None)))
    assert "retention" in encode(other)
    stored = json.loads(encode(other))
    del stored["retention"]
    assert decode(json.dumps(stored)) == Rulebook()


def test_every_policy_comes_back_with_what_is_not_the_default() -> None:
    price = Price(per_input=1.5, per_output=2.0)
    rules = Rulebook(
        liveness=LivenessPolicy(
            ttl=timedelta(seconds=50), inactivity_bound=(("tui", timedelta(days=1)),)
        ),
        processes=ProcessPolicy(on_daily_reset=Handling.STOP, window=timedelta(seconds=5)),
        spend=SpendRules(
            budgets=(
                Budget(
                    name="x", scope=Scope.DAY, unit=Unit.USD, limit=5, action=Act.KILL,
                    sources=("cron",), per=timedelta(hours=1),
                ),
            ),
            breaker=BreakerPolicy(warn_at=(1, 2), cool_down=timedelta(seconds=9)),
            runaway=RunawayPolicy(messages=7, tokens=None),
            prices=Prices(models=(("m", price),), unknown=price),
        ),
        finalizers=(Owing(name="f", sources=("a",), spared=("b",), min_messages=2),),
    )  # fmt: skip
    assert decode(encode(rules)) == rules
