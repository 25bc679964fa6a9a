"""Does every rule say what it selects and protects right now?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sexton.model.session import Session, State
from sexton.policies.finalizing import Owing
from sexton.policies.reset import Mode, ResetPolicy, reset_reason
from sexton.policies.rulebook import ResetRule, Rulebook
from sexton.settings.lint import RuleEffect, effect

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)

RULEBOOK = Rulebook(
    reset=ResetPolicy(),
    reset_rules=(
        ResetRule(sources=("telegram",), policy=ResetPolicy(mode=Mode.IDLE, idle_minutes=120)),
        ResetRule(
            keys=("vip:*",), chat_types=("dm", "group"), policy=ResetPolicy(max_age=10 * HOUR)
        ),
        ResetRule(sources=("nowhere",), policy=ResetPolicy(mode=Mode.DAILY)),
    ),
)


def a_session(idle: timedelta = timedelta(), **facts: Any) -> Session:
    known: dict[str, Any] = {"source": "discord", "key": None, "started_at": NOW - idle}
    return Session(ref=1, home="native", id="s", active_at=NOW - idle, **known | facts)


def test_every_rule_tells_what_it_selects_and_protects() -> None:
    sessions = [
        a_session(source="telegram", idle=3 * HOUR),
        a_session(source="telegram", idle=HOUR),
        a_session(source="telegram", idle=HOUR / 2),
        a_session(source="telegram", message_count=1000),
        a_session(source="telegram", idle=9 * HOUR, state=State.ENDED),
        a_session(source="telegram", key="vip:1", chat_type="dm", idle=9 * HOUR),
        a_session(idle=1000 * HOUR),
        a_session(byte_count=10**7),
    ]
    assert effect(RULEBOOK, iter(sessions), NOW) == [
        RuleEffect(
            rule=None,
            where="reset",
            matches="every other session",
            governs=2,
            over={"max_bytes": 1},
            protects=1,
            next_due=None,
        ),
        RuleEffect(
            rule=0,
            where="reset.rules[0]",
            matches="source telegram",
            governs=4,
            over={"idle": 1, "max_messages": 1},
            protects=2,
            next_due=NOW + HOUR,
        ),
        RuleEffect(
            rule=1,
            where="reset.rules[1]",
            matches="chat type dm or group, key vip:*",
            governs=1,
            over={},
            protects=1,
            next_due=NOW + HOUR,
        ),
        RuleEffect(
            rule=2,
            where="reset.rules[2]",
            matches="source nowhere",
            governs=0,
            over={},
            protects=0,
            next_due=None,
        ),
    ]


def test_every_finalizer_tells_whose_sessions_it_is_for_and_how_many_are_open() -> None:
    rules = Rulebook(
        finalizers=(
            Owing(name="log", sources=("cli", "cron"), min_messages=1),
            Owing(name="memories", spared=("cron",), min_messages=4),
            Owing(name="hook", sources=("*", "cron"), spared=("cron",)),
        )
    )
    sessions = [
        a_session(source="cli"),
        a_session(source="cron"),
        a_session(source="telegram"),
        a_session(source="telegram", state=State.ENDED),
    ]
    _, *finalizers = effect(rules, sessions, NOW)
    assert [(each.where, each.matches, each.governs) for each in finalizers] == [
        ("finalizers[0]", "log: source cli or cron", 2),
        ("finalizers[1]", "memories: every source but cron, from 4 messages on", 2),
        ("finalizers[2]", "hook: every source", 3),
    ]
    assert all((each.over, each.protects, each.next_due) == ({}, 0, None) for each in finalizers)


@settings(deadline=None)
@given(
    st.lists(
        st.builds(
            a_session,
            idle=st.timedeltas(timedelta(), timedelta(days=3)),
            source=st.sampled_from(["telegram", "discord", "nowhere"]),
            key=st.sampled_from([None, "vip:1", "x"]),
            chat_type=st.sampled_from([None, "dm"]),
            message_count=st.integers(0, 1100),
        )
    )
)
def test_every_open_session_is_counted_once_and_nothing_is_over_before_its_due_time(
    sessions: list[Session],
) -> None:
    effects = effect(RULEBOOK, sessions, NOW)
    assert sum(each.governs for each in effects) == len(sessions)
    assert all(each.governs == each.protects + sum(each.over.values()) for each in effects)
    alive = [s for s in sessions if not reset_reason(s, RULEBOOK.reset_policy(s), NOW)]
    due = min((each.next_due for each in effects if each.next_due), default=None)
    for session in alive:
        policy = RULEBOOK.reset_policy(session)
        if due:
            assert reset_reason(session, policy, due - timedelta(microseconds=1)) is None
    if due:
        assert any(reset_reason(s, RULEBOOK.reset_policy(s), due) for s in alive)
