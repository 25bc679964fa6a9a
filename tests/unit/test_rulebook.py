"""Which rule applies to a session, and do all keepers read the same rules?"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from sexton.core.session import Session
from sexton.liveness.policy import LivenessPolicy
from sexton.processes.handling import Handling, ProcessPolicy
from sexton.resets.policy import Mode, ResetPolicy
from sexton.retention.policy import Fate, Protection, Retention, RetentionClass
from sexton.rules.rulebook import ResetRule, Rulebook, decode, digest, encode
from sexton.spending.policy import RunawayPolicy, SpendRules

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


def test_sizes_that_an_older_version_stored_as_defaults_are_no_limits() -> None:
    stored = json.loads(encode(Rulebook()))
    sizes = {"max_messages": 1000, "max_bytes": 5}
    stored["reset"] = {
        name: value for name, value in stored["reset"].items() if not name.startswith("warn_m")
    } | sizes
    reset = decode(json.dumps(stored)).reset
    assert (reset.max_messages, reset.warn_messages) == (None, 1000)
    assert (reset.max_bytes, reset.warn_bytes) == (5, None)


def test_a_rate_that_an_older_version_stored_as_the_default_is_no_limit() -> None:
    older = {"messages": 150, "tokens": 1, "tool_calls": 2}
    rules = Rulebook(spend=SpendRules(runaway=RunawayPolicy(messages=7)))
    stored = json.loads(encode(rules))
    assert decode(json.dumps(stored)) == rules
    for messages, expected in ((150, (None, 150)), (7, (7, None)), (None, (None, None))):
        stored["spend"]["runaway"] = older | {"messages": messages}
        runaway = decode(json.dumps(stored)).spend.runaway
        assert (runaway.messages, runaway.warn_messages) == expected
