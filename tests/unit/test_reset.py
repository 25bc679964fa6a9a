"""When is a session over?"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexton.core.endings import EndKind
from sexton.core.schedule import Schedule
from sexton.core.session import Limit, Session, State
from sexton.liveness.model import Holder, Identity, Worker
from sexton.resets.policy import (
    Mode,
    ResetPolicy,
    holding,
    limit_warning,
    next_boundary,
    reset_reason,
    schedule,
    standing,
    told_reset,
)

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
BERLIN = "Europe/Berlin"


def a_session(**facts: object) -> Session:
    born = Session(
        ref=1, home="native", id="s", key="k", source="telegram", started_at=START, active_at=START
    )
    return replace(born, **facts)  # type: ignore[arg-type]  # facts are named by the test


def local(text: str, zone: str = BERLIN) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


def test_without_a_mode_no_clock_ends_a_session() -> None:
    ten_years = START + timedelta(days=3650)
    assert reset_reason(a_session(), ResetPolicy(), ten_years) is None
    assert schedule(a_session(), ResetPolicy(), 1).at is None


def test_an_idle_session_is_over_exactly_when_its_time_is_up() -> None:
    policy = ResetPolicy(mode=Mode.IDLE, idle_minutes=120)
    due = START + timedelta(minutes=120)
    assert reset_reason(a_session(), policy, due - timedelta(microseconds=1)) is None
    reason = reset_reason(a_session(), policy, due)
    assert reason is not None
    assert reason.code == "idle"
    assert "2 h" in reason.text
    assert schedule(a_session(), policy, 1).at == due


def test_a_daily_reset_comes_at_its_hour_in_its_zone() -> None:
    policy = ResetPolicy(mode=Mode.DAILY, at_hour=4, timezone=BERLIN)
    session = a_session(active_at=local("2026-01-10T23:00"))
    assert reset_reason(session, policy, local("2026-01-11T03:59:59")) is None
    reason = reset_reason(session, policy, local("2026-01-11T04:00"))
    assert reason is not None
    assert reason.code == "daily"


def test_activity_after_the_boundary_waits_for_the_next_one() -> None:
    policy = ResetPolicy(mode=Mode.DAILY, at_hour=4, timezone=BERLIN)
    session = a_session(active_at=local("2026-01-11T04:00"))
    assert reset_reason(session, policy, local("2026-01-12T03:59")) is None
    assert reset_reason(session, policy, local("2026-01-12T04:00")) is not None


def test_both_clocks_end_a_session_whichever_comes_first() -> None:
    policy = ResetPolicy(mode=Mode.BOTH, idle_minutes=60, at_hour=4, timezone=BERLIN)
    evening = a_session(active_at=local("2026-01-10T20:00"))
    night = a_session(active_at=local("2026-01-11T03:50"))
    first = reset_reason(evening, policy, local("2026-01-10T21:00"))
    second = reset_reason(night, policy, local("2026-01-11T04:00"))
    assert first is not None
    assert second is not None
    assert (first.code, second.code) == ("idle", "daily")


def test_an_hour_skipped_in_spring_counts_as_the_end_of_the_gap() -> None:
    policy = ResetPolicy(mode=Mode.DAILY, at_hour=2, timezone=BERLIN)
    before = datetime(2026, 3, 28, 12, tzinfo=UTC)
    assert next_boundary(before, policy) == datetime(2026, 3, 29, 1, tzinfo=UTC)  # 03:00 in Berlin
    assert next_boundary(datetime(2026, 3, 29, 1, tzinfo=UTC), policy) == local("2026-03-30T02:00")


def test_an_hour_repeated_in_autumn_resets_once() -> None:
    policy = ResetPolicy(mode=Mode.DAILY, at_hour=2, timezone=BERLIN)
    first = next_boundary(datetime(2026, 10, 24, 12, tzinfo=UTC), policy)
    assert first == datetime(2026, 10, 25, 0, tzinfo=UTC)  # the first 02:00
    assert next_boundary(first, policy) == datetime(2026, 10, 26, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("limit", "facts", "code"),
    [
        ({"max_messages": 10}, {"message_count": 10}, "max_messages"),
        ({"max_bytes": 10}, {"byte_count": 10}, "max_bytes"),
        ({"max_turns": 10}, {"turn_count": 10}, "max_turns"),
        ({"max_age": timedelta(hours=1)}, {"started_at": START - timedelta(hours=1)}, "max_age"),
    ],
)
def test_each_limit_ends_a_session_in_every_mode(
    limit: dict[str, int], facts: dict[str, object], code: str
) -> None:
    for mode in Mode:
        policy = replace(ResetPolicy(mode=mode), **limit)  # type: ignore[arg-type]
        reason = reset_reason(a_session(**facts), policy, START)
        assert reason is not None
        assert reason.code == code


def test_a_session_is_warned_once_at_four_fifths_of_a_limit() -> None:
    policy = ResetPolicy(max_messages=1000)
    assert limit_warning(a_session(message_count=799), policy, START) is None
    warning = limit_warning(a_session(message_count=800), policy, START)
    assert warning is not None
    assert warning[0] is Limit.MESSAGES
    assert "80 % of 1000" in warning[1].text
    warned = a_session(message_count=900, warned=Limit.MESSAGES)
    assert limit_warning(warned, policy, START) is None


def test_a_warning_about_one_limit_does_not_silence_another() -> None:
    session = a_session(message_count=900, byte_count=9_000_000, warned=Limit.MESSAGES)
    policy = ResetPolicy(max_messages=1000, max_bytes=10_000_000)
    warning = limit_warning(session, policy, START)
    assert warning is not None
    assert warning[0] is Limit.BYTES


def test_without_a_limit_size_warns_once_and_never_ends_or_stays_due() -> None:
    usual = ResetPolicy()
    full = a_session(message_count=10**6, byte_count=10**10)
    assert reset_reason(full, usual, START) is None
    first = limit_warning(full, usual, START)
    assert first is not None
    assert (first[0], first[1].code) == (Limit.MESSAGES, "large_messages")
    second = limit_warning(replace(full, warned=Limit.MESSAGES), usual, START)
    assert second is not None
    assert (second[0], second[1].code) == (Limit.BYTES, "large_bytes")
    told = replace(full, warned=Limit.MESSAGES | Limit.BYTES)
    assert limit_warning(told, usual, START) is None
    assert schedule(full, usual, 1).at == full.active_at
    assert schedule(told, usual, 1) == Schedule(1)
    assert (schedule(a_session(), usual, 1).at_messages) == 1000
    assert (schedule(a_session(), usual, 1).at_bytes) == 10_000_000
    assert schedule(full, ResetPolicy(warn_messages=None, warn_bytes=None), 1) == Schedule(1)


def test_counts_are_scheduled_for_the_warning_first_and_the_limit_after_it() -> None:
    policy = ResetPolicy(max_messages=1000)
    assert schedule(a_session(), policy, 1).at_messages == 800
    assert schedule(a_session(warned=Limit.MESSAGES), policy, 1).at_messages == 1000


def test_pins_and_running_turns_hold_a_reset_back() -> None:
    assert holding(a_session(), None, START) is None
    pinned = holding(a_session(pinned=True), None, START)
    assert pinned is not None
    assert pinned.code == "pinned"


def test_a_running_turn_that_holds_a_reset_back_says_whose_it_is_and_for_how_long() -> None:
    identity = Identity(
        host="box", boot_id="b", pid=42, started=1, inode=None, pid_namespace=None, uid=0
    )
    worker = Worker(
        id="w", identity=identity, kind="gateway", version="1", beat=0, registered_at=START
    )
    turn = Holder(worker=worker, joined_at=START, busy_since=START)
    busy = holding(a_session(), turn, START + timedelta(minutes=90))
    assert busy is not None
    assert busy.code == "busy"
    assert "gateway, pid 42 on box" in busy.text
    assert "1 h 30 min" in busy.text


def test_every_rule_says_how_the_session_stands_with_it() -> None:
    policy = ResetPolicy(mode=Mode.BOTH, max_bytes=10, max_turns=5, max_age=timedelta(days=30))
    codes = [reason.code for reason in standing(a_session(), policy, START)]
    assert codes == ["idle", "daily", "max_bytes", "max_turns", "max_age", "large_messages"]


moments = st.datetimes(
    datetime(2020, 1, 1),  # noqa: DTZ001  # the zone is drawn beside it
    datetime(2032, 1, 1),  # noqa: DTZ001  # the zone is drawn beside it
    timezones=st.just(UTC),
)
policies = st.builds(
    ResetPolicy,
    mode=st.sampled_from(Mode),
    idle_minutes=st.integers(1, 100_000),
    at_hour=st.integers(0, 23),
    timezone=st.sampled_from(
        [BERLIN, "UTC", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"]
    ),
    max_age=st.none() | st.timedeltas(timedelta(seconds=1), timedelta(days=400)),
    max_messages=st.none() | st.integers(1, 1000),
    max_bytes=st.none() | st.integers(1, 10**7),
    max_turns=st.none() | st.integers(1, 100),
    warn_at=st.floats(0.01, 0.99),
    warn_messages=st.none() | st.integers(1, 1000),
    warn_bytes=st.none() | st.integers(1, 10**7),
)
sessions = st.builds(
    lambda start, idle, counts, warned: a_session(
        started_at=start,
        active_at=start + idle,
        message_count=counts[0],
        byte_count=counts[1],
        turn_count=counts[2],
        warned=Limit(warned),
    ),
    moments,
    st.timedeltas(timedelta(0), timedelta(days=400)),
    st.tuples(st.integers(0, 1200), st.integers(0, 2 * 10**7), st.integers(0, 120)),
    st.integers(0, 15),
)
waits = st.timedeltas(timedelta(0), timedelta(days=500))


@given(sessions, policies, waits)
def test_the_stored_due_time_never_comes_too_late(
    session: Session, policy: ResetPolicy, wait: timedelta
) -> None:
    now = session.active_at + wait
    says_something = reset_reason(session, policy, now) or limit_warning(session, policy, now)
    if says_something:
        due = schedule(session, policy, 1).at
        assert due is not None
        assert due <= now


@given(sessions, policies)
def test_a_due_time_that_has_come_is_not_scheduled_again_for_ever(
    session: Session, policy: ResetPolicy
) -> None:
    due = schedule(session, policy, 1).at
    if due is not None:
        now = max(due, session.active_at) + timedelta(microseconds=1)
        assert reset_reason(session, policy, now) or limit_warning(session, policy, now)


@given(moments, policies)
def test_daily_boundaries_follow_one_another_about_a_day_apart(
    moment: datetime, policy: ResetPolicy
) -> None:
    first = next_boundary(moment, policy)
    second = next_boundary(first, policy)
    assert moment < first <= moment + timedelta(hours=26)
    assert timedelta(hours=22) <= second - first <= timedelta(hours=26)


def test_what_was_only_called_a_reset_is_known_by_the_policy_it_was_reset_under() -> None:
    """By a clock, at a size, at a user's word, or as of its last activity, which is a reap."""
    both = ResetPolicy(mode=Mode.BOTH, idle_minutes=600, at_hour=18, max_messages=9)

    def told(hours: float, policy: ResetPolicy | None = both, **facts: object) -> EndKind:
        ended = START + timedelta(hours=hours)
        return told_reset(a_session(state=State.ENDED, ended_at=ended, **facts), policy)

    assert told(11) is EndKind.IDLE_RESET
    assert told(7) is EndKind.DAILY_RESET
    assert told(1, message_count=9) is EndKind.SIZE_RESET
    assert told(1) is told(11, None) is EndKind.USER
    assert told(0) is EndKind.REAP
