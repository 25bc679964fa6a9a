"""What is a background process doing, and for how long does that hold a reset back?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sexton.core.endings import end_kind
from sexton.core.plan import Reason
from sexton.core.record import replace
from sexton.core.session import NATIVE, Session, State
from sexton.liveness.evidence import Evidence, Verdict
from sexton.liveness.model import Identity
from sexton.processes.handling import Handling, Occasion, ProcessPolicy, occasion_of
from sexton.processes.model import (
    Doing,
    Figures,
    Look,
    Member,
    Presence,
    Process,
    ProcessKind,
    tagged,
    tags_in,
)
from sexton.processes.policy import (
    Judgement,
    holding_process,
    holds_until,
    is_fresh,
    judge,
    left_to_owner,
    size,
    watched,
)
from sexton.resets.policy import OWN_TIME, Mode, ResetPolicy
from tests.golden import golden

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
TWO_HOURS = ResetPolicy(mode=Mode.IDLE, idle_minutes=120)
USUAL = ProcessPolicy()


def member(pid: int = 1, **used: Any) -> Member:
    given: dict[str, Any] = {"started": 7, "cpu": 1.0, "waited": 0.0, "io": 5000, "memory": 100}
    return Member(pid=pid, **(given | used))


def look(at: float, *members: Member, ports: tuple[int, ...] = ()) -> Look:
    return Look(at=at, presence=Presence.PRESENT, members=members, ports=ports)


def doing(*looks: Look) -> Doing:
    return judge(looks).doing


def process(**facts: Any) -> Process:
    given: dict[str, Any] = {
        "identity": Identity(host="box", boot_id="b", pid=12, started=7),
        "session": "s",
        "task": None,
        "kind": ProcessKind.JOB,
        "command": "make all",
        "cwd": "/",
        "started_at": NOON - HOUR,
    }
    return Process(**(given | facts))


def session(**facts: Any) -> Session:
    given: dict[str, Any] = {"key": "k", "source": "telegram", "started_at": NOON - 9 * HOUR}
    return Session(ref=1, home="native", id="s", active_at=NOON, **(given | facts))


def test_one_hundredth_of_the_window_is_work_and_less_is_not() -> None:
    before = look(0, member())
    assert doing(before, look(60, member(cpu=1.59))) is Doing.IDLE
    assert doing(before, look(60, member(cpu=1.60))) is Doing.WORKING


def test_in_a_short_window_a_single_tick_is_nothing() -> None:
    before = look(0, member())
    assert doing(before, look(0.5, member(cpu=1.01))) is Doing.IDLE
    assert doing(before, look(0.5, member(cpu=1.02))) is Doing.WORKING


def test_four_kibibytes_read_or_written_are_work() -> None:
    before = look(0, member())
    assert doing(before, look(60, member(io=5000 + 4095))) is Doing.IDLE
    assert doing(before, look(60, member(io=5000 + 4096))) is Doing.WORKING


def test_who_waits_for_connections_and_does_nothing_else_is_listening() -> None:
    before = look(0, member(), ports=(8765,))
    assert doing(before, look(60, member(), ports=(8765,))) is Doing.LISTENING
    assert doing(before, look(60, member(cpu=9.0), ports=(8765,))) is Doing.WORKING


def test_the_work_of_descendants_counts_also_of_new_ones() -> None:
    before = look(0, member(), member(2))
    assert doing(before, look(60, member(), member(2, cpu=2.0))) is Doing.WORKING
    assert doing(before, look(60, member(), member(2), member(3, io=0))) is Doing.WORKING


def test_a_child_that_was_collected_is_not_counted_again() -> None:
    before = look(0, member(), member(2, cpu=50.0, io=10**6))
    after = look(60, member(waited=50.1, io=5000 + 10**6))
    found = judge([before, after])
    assert (found.doing, found.figures.cpu, found.figures.io) == (Doing.IDLE, 0.1, 0)


def test_short_lived_children_are_work_of_who_collected_them() -> None:
    assert doing(look(0, member()), look(60, member(waited=5.0))) is Doing.WORKING


def test_what_vanished_uncollected_hides_no_work() -> None:
    before = look(0, member(), member(2, cpu=500.0, io=0))
    assert doing(before, look(60, member(cpu=2.0))) is Doing.WORKING


def test_what_vanished_uncollected_hides_no_reading_and_writing() -> None:
    first, second = member(1, io=0), member(2, io=10**9)
    now = look(60, first._replace(io=10**6))
    assert judge([look(0, first, second), now]).figures.io == 10**6
    collected = look(60, first._replace(io=10**9 + 5))
    assert judge([look(0, first, second), collected]).figures.io == 5


def test_a_reused_pid_in_the_tree_counts_from_its_own_start() -> None:
    before = look(0, member(), member(2, cpu=500.0, io=0))
    found = judge([before, look(60, member(), member(2, started=8, cpu=0.1, io=0))])
    assert (found.doing, found.figures.cpu) == (Doing.IDLE, 0.1)


def test_the_figures_are_told() -> None:
    before = look(0, member(), member(2), ports=(80,))
    found = judge([before, look(60, member(cpu=4.0), member(2), ports=(80, 8080))])
    golden("processes", "judged: by its figures", found.because)
    assert (found.figures.cpu, found.figures.io, found.figures.seconds) == (3.0, 0, 60.0)
    assert (found.figures.memory, found.figures.processes) == (200, 2)
    assert found.figures.ports == (80, 8080)


@pytest.mark.parametrize(
    ("presence", "expected"),
    [
        (Presence.GONE, Doing.DEAD),
        (Presence.ZOMBIE, Doing.ZOMBIE),
        (Presence.FOREIGN, Doing.FOREIGN),
        (Presence.HIDDEN, Doing.UNKNOWN),
        (Presence.AWAITED, Doing.UNKNOWN),
        (Presence.PRESENT, Doing.UNKNOWN),
    ],
)
def test_with_nobody_left_it_counts_what_became_of_the_process(
    presence: Presence, expected: Doing
) -> None:
    found = judge([look(0, member()), Look(at=60, presence=presence)])
    assert found.doing is expected
    assert found.because


def test_what_a_dead_process_left_behind_is_what_it_does() -> None:
    left = Look(at=60, presence=Presence.GONE, members=(member(2, cpu=3.0),))
    assert doing(Look(at=0, presence=Presence.GONE, members=(member(2),)), left) is Doing.WORKING


def test_what_comes_and_goes_too_quickly_to_be_watched_is_not_dead() -> None:
    passing = Look(at=1, presence=Presence.GONE, passing=True)
    assert doing(passing) is Doing.UNKNOWN
    assert doing(passing, replace(passing, passing=False)) is Doing.DEAD


def test_one_look_tells_nothing() -> None:
    assert doing(look(0, member())) is Doing.UNKNOWN


def test_a_working_process_holds_until_the_idle_time_is_over_again() -> None:
    due = NOON + 2 * HOUR
    assert holds_until(process(), session(), TWO_HOURS, USUAL) == due + 2 * HOUR


def test_without_an_idle_time_a_process_holds_a_day_from_when_the_reset_is_due() -> None:
    daily = ResetPolicy(mode=Mode.DAILY, at_hour=18)
    assert holds_until(process(), session(), daily, USUAL) == NOON + 6 * HOUR + 24 * HOUR
    never = ResetPolicy(max_messages=None, max_bytes=None)
    for reset in (never, None):
        assert holds_until(process(), session(), reset, USUAL) == NOON + 23 * HOUR
    assert holds_until(process(), None, TWO_HOURS, USUAL) == NOON + HOUR


def test_an_owner_that_resets_by_itself_is_given_a_little_time_for_it() -> None:
    """And what it may wait for is named, although it holds nothing back here."""
    proof = Evidence(verdict=Verdict.LIVE, signals=("the gateway goes on with it",), resets=True)
    due = NOON + 2 * HOUR
    idle = Judgement(doing=Doing.LISTENING, figures=Figures(), because="it listens")
    server = watched(process(), idle, session(), (TWO_HOURS, USUAL), due)

    def left(at: datetime, known: Evidence | None = proof) -> Reason | None:
        return left_to_owner(session(), TWO_HOURS, known, [server], at)

    found = left(due)
    assert found is not None
    assert found.code == "own_reset"
    assert server.process.name in found.text
    assert server.process.command in found.text
    assert left(due + OWN_TIME) is None
    assert left(due, None) is left(due, replace(proof, resets=False)) is None
    assert left_to_owner(session(), ResetPolicy(), proof, [], due) is None


def test_a_process_that_was_started_later_holds_from_its_start() -> None:
    late = process(started_at=NOON + 9 * HOUR)
    assert holds_until(late, session(), TWO_HOURS, USUAL) == NOON + 11 * HOUR


@pytest.mark.parametrize("limit", ["message", "byte", "turn"])
def test_a_count_that_is_full_is_held_from_the_start_whatever_is_written_meanwhile(
    limit: str,
) -> None:
    reset = replace(TWO_HOURS, max_messages=10, max_bytes=10, max_turns=10)
    for hours in (0, 1, 9):
        full: dict[str, Any] = {"active_at": NOON + hours * HOUR, f"{limit}_count": 10}
        talking = replace(session(), **full)
        assert holds_until(process(), talking, reset, USUAL) == NOON + HOUR
        nearly = replace(talking, **{f"{limit}_count": 9})
        assert holds_until(process(), nearly, reset, USUAL) == NOON + (hours + 4) * HOUR


def test_an_age_that_is_reached_is_held_from_then_whatever_is_written_meanwhile() -> None:
    reset = replace(TWO_HOURS, max_age=HOUR)
    for hours in (0, 1, 9):
        talking = replace(session(started_at=NOON), active_at=NOON + hours * HOUR)
        assert holds_until(process(), talking, reset, USUAL) == NOON + 3 * HOUR


def test_a_ttl_that_was_set_runs_from_the_start_and_its_own_comes_first() -> None:
    policy = ProcessPolicy(ttl=3 * HOUR)
    assert holds_until(process(), session(), TWO_HOURS, policy) == NOON + 2 * HOUR
    own = process(expires_at=NOON + 5 * HOUR)
    assert holds_until(own, session(), TWO_HOURS, policy) == NOON + 5 * HOUR


@pytest.mark.parametrize("seen", list(Doing))
def test_only_a_working_process_of_an_open_session_within_its_time_holds(seen: Doing) -> None:
    found = Judgement(doing=seen, figures=judge([look(0)]).figures, because="so it is")
    rules, own = (TWO_HOURS, USUAL), process(expires_at=NOON + HOUR)
    now = NOON + HOUR - timedelta(seconds=1)
    assert watched(own, found, session(), rules, now).holds == (seen is Doing.WORKING)
    assert not watched(own, found, session(), rules, NOON + HOUR).holds
    ended = session(state=State.ENDED, ended_at=NOON)
    assert not watched(own, found, ended, rules, now).holds
    assert not watched(own, found, None, rules, now).holds


def test_what_holds_is_told_with_pid_age_command_and_rule() -> None:
    found = judge([look(0, member()), look(60, member(cpu=61.0))])
    rules = (TWO_HOURS, USUAL)
    idle = Judgement(doing=Doing.IDLE, figures=found.figures, because="")
    none = watched(process(), idle, session(), rules, NOON)
    held = watched(process(), found, session(), rules, NOON)
    assert holding_process([none], NOON) is None
    reason = holding_process([none, held], NOON)
    assert reason is not None
    assert reason.code == "process:12"
    assert "2026-01-01 16:00 UTC" in reason.text
    golden("processes", "holds a reset", reason.text)


def test_a_program_is_named_without_its_arguments_and_without_what_is_set_for_it() -> None:
    assert (
        replace(process(), command="API_KEY=*** A=b /bin/serve --port 80").program == "/bin/serve"
    )
    assert replace(process(), command="").program == "?"
    for command, shown in (
        ("python3 -u -m http.server 0 --bind ::1", "python3 -m http.server"),
        ("/usr/bin/node /srv/app.js --port 80", "/usr/bin/node /srv/app.js"),
        ("python3 -c print(1)", "python3"),
        ("/bin/bash -lic serve-it hidden", "/bin/bash"),
    ):
        assert replace(process(), command=command).program == shown


def test_a_judgement_counts_for_two_windows_whichever_way_a_clock_is_wrong() -> None:
    for seconds, fresh in ((120, True), (121, False), (-120, True), (-121, False)):
        seen = process(judged_at=NOON - timedelta(seconds=seconds))
        assert is_fresh(seen, USUAL, NOON) == fresh
    assert not is_fresh(process(), USUAL, NOON)


@pytest.mark.parametrize(
    ("reason", "occasion"),
    [
        ("idle", Occasion.IDLE),
        ("daily", Occasion.DAILY),
        ("reaped:process_gone", Occasion.REAP),
        ("closed", Occasion.END),
        ("max_messages", Occasion.END),
        (None, Occasion.END),
    ],
)
def test_every_end_falls_under_one_policy(reason: str | None, occasion: Occasion) -> None:
    assert occasion_of(end_kind(reason, NATIVE)) is occasion
    wanted: dict[str, Any] = {str(occasion): Handling.STOP}
    policy = ProcessPolicy(**wanted)
    assert [policy.handling(each) is Handling.STOP for each in Occasion].count(True) == 1
    assert policy.handling(occasion) is Handling.STOP


def test_a_nested_process_carries_the_tags_of_all_above_it() -> None:
    assert tags_in(tagged(None, "a")) == ["a"]
    assert tags_in(tagged(tagged("a", "b"), "c")) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0 bytes"), (10_239, "10239 bytes"), (10_240, "10 KiB"), (20 * 2**20, "20 MiB"),
     (30 * 2**30, "30 GiB")],
)  # fmt: skip
def test_sizes_are_told_as_people_say_them(count: int, shown: str) -> None:
    assert size(count) == shown
