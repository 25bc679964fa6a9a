"""Of what are people told, and in which words?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sexton.core.plan import Held, JournalEntry, Reason, Seen
from sexton.core.record import replace
from sexton.core.session import Session
from sexton.finalizers.model import Finalization, FinalizationState
from sexton.liveness.model import Identity
from sexton.notifications.model import Event
from sexton.notifications.policy import (
    FEW,
    RESETS,
    Interest,
    Occasion,
    dead_letter,
    journalled,
    long_held,
    notices,
    process_left,
    process_stopping,
)
from sexton.processes.model import Process, ProcessKind
from sexton.resets.policy import Mode, ResetPolicy, reset_reason
from sexton.settings.settings_values import EVENTS, NotifySetting
from tests.golden import golden

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
IDLE = Reason("idle", "idle for 1 d, the limit is 1 d")


def untitled(home: str, session: str) -> str | None:
    return None


def entry(**facts: Any) -> JournalEntry:
    given: dict[str, Any] = {
        "ref": 7, "at": NOON, "actor": "somebody", "receipt": None, "home": "native",
        "session": "s1", "action": "end", "result": "done", "reason": IDLE,
    }  # fmt: skip
    return JournalEntry(**(given | facts))


def given_up(**facts: Any) -> Finalization:
    given: dict[str, Any] = {
        "ref": 3, "home": "native", "session": "s1", "session_ref": 1, "finalizer": "log",
        "since": 0, "through": 9, "state": FinalizationState.DEAD, "attempts": 8, "claim": 8,
        "worker": None, "owed_at": NOON, "not_before": NOON, "finished_at": None,
        "last_error": "exit code 1: what-was-said",
    }  # fmt: skip
    return Finalization(**(given | facts))


def held(**facts: Any) -> Held:
    seen = Seen(
        ref=1, home="native", id="s1", epoch=1, active_at=NOON, message_count=1, turn_count=0,
        pinned=True,
    )  # fmt: skip
    return Held(seen=replace(seen, **facts), wanted=IDLE, holding=Reason("pinned", "it is pinned"))


def text(*occasions: Occasion | None, title: str | None = None) -> str:
    """The text of the only notice there is."""
    found = [each for each in occasions if each is not None]
    [notice] = [each for each in notices(found, lambda *_: title) if not each.folded]
    return notice.text


def test_a_budget_is_told_when_it_is_nearly_spent_and_when_it_stops_a_session() -> None:
    words = "80 tokens of 100 tokens in this session"
    near = journalled(entry(action="warn", reason=Reason("near_budget:b", words)))
    stop = journalled(entry(action="pause", ref=8, reason=Reason("budget:b", words)))
    tools = journalled(entry(action="end", ref=9, reason=Reason("breaker:tool_errors", "nine")))
    assert near is not None
    assert near.event is Event.BUDGET
    for each, reason in ((near, words), (stop, words), (tools, "nine")):
        assert reason in text(each)
    golden("notifications", "budget: near, pause, end", "\n".join(map(text, (near, stop, tools))))


def test_a_reset_by_policy_is_told_with_its_reason() -> None:
    occasion = journalled(entry())
    assert occasion is not None
    assert (occasion.event, occasion.key) == (Event.RESET, "reset/native/s1/7")
    assert IDLE.text in text(occasion)
    golden("notifications", "reset: of s1", text(occasion))


def test_a_warning_is_told_once_for_each_limit_of_a_session() -> None:
    near = Reason("near_max_messages", "800 messages: 80 % of 1000")
    first = journalled(entry(action="warn", reason=near))
    again = journalled(entry(action="warn", reason=near, ref=8))
    assert first == again
    assert first is not None
    assert first.at == NOON
    assert (first.event, first.key) == (Event.LIMIT, "limit/native/s1/messages")
    assert near.text in text(first)
    golden("notifications", "limit: near, of s1", text(first))


@pytest.mark.parametrize(
    "other",
    [
        {"reason": Reason("reset", "asked for")},
        {"reason": Reason("closed", "it left")},
        {"action": "reap", "reason": Reason("dead", "its process is gone")},
        {"action": "publish", "home": None, "session": None},
        {"result": "recorded"},
        {"result": "skipped"},
    ],
)
def test_nothing_else_in_the_journal_is_told(other: dict[str, Any]) -> None:
    assert journalled(entry(**other)) is None


def test_every_reason_of_the_reset_policy_is_a_reset() -> None:
    old = Session(
        ref=1, home="native", id="s1", key="k", source="cli", started_at=NOON, active_at=NOON,
        message_count=9, byte_count=9, turn_count=9,
    )  # fmt: skip
    later = NOON + timedelta(days=9)
    quiet = ResetPolicy(max_messages=None, max_bytes=None)
    policies = (
        replace(quiet, mode=Mode.IDLE),
        replace(quiet, mode=Mode.DAILY),
        replace(quiet, max_messages=1),
        replace(quiet, max_bytes=1),
        replace(quiet, max_turns=1),
        replace(quiet, max_age=timedelta(days=1)),
    )
    reasons = [reset_reason(old, policy, later) for policy in policies]
    assert {reason.code for reason in reasons if reason} == RESETS


def test_the_settings_name_every_event_and_the_same_defaults() -> None:
    assert tuple(Event) == EVENTS
    usual = NotifySetting()
    interest = Interest(events=frozenset(map(Event, usual.events)), held_after=usual.held_after)
    assert interest == Interest()


def test_a_dead_letter_is_told_without_its_error_which_may_quote_a_transcript() -> None:
    occasion = dead_letter(given_up())
    assert (occasion.event, occasion.key) == (Event.DEAD_LETTER, "dead/native/s1/9/log/8")
    golden("notifications", "dead letter", text(occasion))


def test_work_that_is_tried_again_by_hand_and_given_up_again_is_told_again() -> None:
    assert dead_letter(given_up()) == dead_letter(given_up())
    assert dead_letter(given_up()).key != dead_letter(given_up(claim=9)).key


def test_a_dead_letter_is_as_old_as_its_death() -> None:
    later = NOON + timedelta(days=1)
    assert dead_letter(given_up()).at == NOON
    assert dead_letter(given_up(finished_at=later)).at == later


def test_a_held_reset_is_told_after_a_while_and_once_for_each_time_it_began() -> None:
    interest, day = Interest(held_after=timedelta(days=1)), timedelta(days=1)
    assert long_held(held(), NOON, interest, NOON + day - timedelta(seconds=1)) is None
    first = long_held(held(), NOON, interest, NOON + day)
    assert first is not None
    assert first == long_held(held(), NOON, interest, NOON + 9 * day)
    anew = long_held(held(), NOON + timedelta(microseconds=1), interest, NOON + 9 * day)
    assert anew is not None
    assert anew.key != first.key
    assert first.at == NOON + day
    assert "2026-01-01 12:00 UTC" in text(first)
    golden("notifications", "held: of s1", text(first))


def test_a_process_that_is_going_to_be_stopped_is_told_without_its_arguments() -> None:
    process = Process(
        identity=Identity(host="host", boot_id="boot", pid=12, started=34),
        session="s1", task=None, kind=ProcessKind.SERVER, command="serve --token=secret",
        cwd="/", started_at=NOON,
    )  # fmt: skip

    def told(action: str, words: str) -> Occasion:
        occasion = journalled(entry(action=action, reason=Reason("process", words)))
        assert occasion is not None
        assert occasion.event is Event.PROCESS
        return occasion

    stopping = process_stopping(process, Reason("expired", "its time is over"), NOON)
    announced = text(told("announce_stop", stopping))
    golden("notifications", "process: is stopped, of s1", announced)
    left = process_left(process, Reason("listening", "its session ended: idle"))
    runs_on = text(told("leave_process", left))
    golden("notifications", "process: runs on, of s1", runs_on)
    assert "secret" not in announced + runs_on


def test_a_session_is_named_by_its_title_and_by_its_home_if_that_is_another() -> None:
    away = journalled(entry(home="hermes"))
    assert '"A trip to Rome" (hermes/s1)' in text(away, title="A trip\n to Rome")
    long = text(away, title="x" * 1000)
    assert 'x…" (hermes/s1)' in long
    assert len(long) < 400


def test_names_that_are_odd_or_long_stay_one_line_and_keep_their_keys_apart() -> None:
    odd = [journalled(entry(session="s\r\n" + "x" * 1000 + end)) for end in "ab"]
    first, second = (each for each in odd if each is not None)
    assert first.key != second.key
    assert max(len(first.key), len(second.key)) <= 500
    assert "\n" not in text(first)
    assert len(text(first)) < 600


def test_a_few_at_once_are_told_one_by_one_and_many_together() -> None:
    resets = [journalled(entry(ref=ref, session=f"s{ref}")) for ref in range(1, FEW + 2)]
    many = [each for each in resets if each is not None]
    near = journalled(entry(action="warn", reason=Reason("near_max_age", "old")))
    assert near is not None
    few = list(notices([*many[:FEW], near], untitled))
    assert [each.key for each in few] == [each.key for each in many[:FEW]] + [near.key]
    assert not any(each.folded for each in few)
    assert (few[0].home, few[0].session) == ("native", "s1")
    head, *folded = notices(many, untitled)
    assert head.text.startswith(f"{FEW + 1} ")
    golden("notifications", "reset: many at once, s1 and others", head.text)
    assert (head.folded, head.home, head.session) == (False, "native", None)
    mixed = journalled(entry(ref=99, home="hermes"))
    assert mixed is not None
    assert next(notices([*many, mixed], untitled)).home is None
    assert [each.key for each in folded] == [each.key for each in many]
    assert all(each.folded for each in folded)
    assert head.key not in {each.key for each in many}


@pytest.mark.parametrize("event", Event)
def test_many_of_any_event_can_be_told_together(event: Event) -> None:
    occasion = Occasion(key="k", event=event, at=NOON, home="native", session="s1", words="did it.")
    many = [replace(occasion, key=f"{number}") for number in range(FEW + 1)]
    told = list(notices(many, untitled))
    assert len(told) == FEW + 2
    assert told[0].text.startswith(f"{FEW + 1} ")
