"""Does every default act? One test per setting, through the real parts."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sexton.core.plan import EndSession, ReapSession, Reason, WarnSession
from sexton.core.schedule import Schedule
from sexton.core.session import Session
from sexton.errors import (
    BreakerOpen,
    BudgetExceeded,
    PriceUnknown,
    SettingsInvalid,
)
from sexton.homes.hermes.hermes_places import DATABASE
from sexton.homes.hermes.inherited import OwnRules, limits
from sexton.liveness.evidence import Verdict
from sexton.liveness.membership import Membership
from sexton.liveness.missed_heartbeats import Watch, listen
from sexton.liveness.model import Worker
from sexton.processes.model import Doing
from sexton.processes.stopping import Stopper
from sexton.resets.policy import limit_warning, reset_reason
from sexton.rules.rulebook import Rulebook, decode
from sexton.sessions.agent_session import OpenSession
from sexton.sessions.model import Birth, Opened
from sexton.settings.loader import load
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from sexton.wiring.home_channels import home_channels
from tests.unit.conftest import FAR, MOST, START, Opener
from tests.unit.showing_defaults import shows

DAY = timedelta(days=1)
DEAF = "trap 'echo asked' TERM; echo deaf; while :; do sleep 0.05; done"


def ended(sexton: Sexton) -> list[str]:
    """The reasons for which the plan would end sessions now."""
    return [a.reason.code for a in sexton.plan().actions if isinstance(a, EndSession)]


def warned(sexton: Sexton) -> list[str]:
    return [a.reason.code for a in sexton.plan().actions if isinstance(a, WarnSession)]


def write(sexton: Sexton, messages: int = 1, content: str = "hello", **facts: str) -> None:
    """A telegram conversation of a process that then leaves; it waits for the next message."""
    source = facts.pop("source", "telegram")
    with sexton.worker() as worker:
        session = worker.session("chat", source=source, **facts)
        session.append_many([{"role": "user", "content": content}] * messages)


def a_worker_elsewhere(sexton: Sexton) -> Worker:
    """A process of another machine, of which nothing but its beats can be seen."""
    worker = Worker(
        id="far",
        identity=replace(sexton.processes.myself(), host="elsewhere"),
        kind="agent",
        version="0",
        beat=0,
        registered_at=sexton.clock.now(),
    )
    sexton.ledger.workers.register(worker)
    return worker


def held_by(sexton: Sexton, worker: Worker) -> str:
    """The id of a session that dies with the worker."""
    birth = Birth(id="held", key=None, source="cli", worker=worker.id, schedule=Schedule(0))
    assert sexton.ledger.book.begin(birth, sexton.clock.now())
    return birth.id


def stalled(sexton: Sexton, session: str) -> bool:
    return any("stalled" in answer.detail for answer in sexton.why(session).answers)


def load_text(sexton: Sexton, text: str) -> Rulebook:
    """The rules of another settings file than the one in force."""
    assert sexton.settings.source
    file = Path(sexton.settings.source).with_name("other.yaml")
    file.write_text(text)
    return load(file, {}).rulebook


def a_session(active_at: datetime) -> Session:
    return Session(
        ref=1, home="native", id="s", key="k", source="telegram",
        started_at=active_at, active_at=active_at,
    )  # fmt: skip


@pytest.fixture
def sleeper() -> Iterator[int]:
    """A real process that waits; its pid."""
    with subprocess.Popen(["sleep", "600"]) as child:
        yield child.pid
        child.kill()


def with_process(sexton: Sexton, pid: int, source: str = "telegram") -> OpenSession:
    """A session that the process belongs to."""
    session = sexton.worker().session("chat", source=source)
    session.append(role="user", content="hello")
    session.register_process(pid)
    return session


def told(sexton: Sexton, session: OpenSession, action: str) -> list[datetime]:
    """When people were told something of its processes."""
    return [each.at for each in sexton.why(session.id).journal if each.action == action]


def assert_left_and_told(sexton: Sexton, session: OpenSession, pid: int, reason: str) -> None:
    """A sweep ends the session, tells of the process and leaves it alone."""
    sexton.sweep()
    assert sexton.find(session.id).end_reason == reason
    assert told(sexton, session, "leave_process") == [sexton.clock.now()]
    os.kill(pid, 0)


@shows("homes")
def test_without_settings_no_home_is_looked_at(opened: Opener) -> None:
    sexton = opened("")
    assert sexton.settings.homes == ()
    assert not sexton.estate().records
    assert not sexton.sweep().observed


@shows("homes[].path")
def test_a_home_without_a_path_is_refused(opened: Opener) -> None:
    with pytest.raises(SettingsInvalid, match=r"homes\[0\]\.path"):
        opened("homes: [{act: true}]")


@shows("homes[].kind")
def test_a_home_is_taken_for_a_hermes_home(opened: Opener, tmp_path: Path) -> None:
    (tmp_path / ".agent").mkdir()
    (tmp_path / ".agent" / DATABASE).touch()
    assert opened("homes: [{path: .agent}]").estate().homes["agent"].kind == "hermes"


@shows("homes[].name")
def test_a_home_is_named_after_its_directory_without_the_dot(
    opened: Opener, tmp_path: Path
) -> None:
    (tmp_path / ".hermes").mkdir()
    (tmp_path / ".hermes" / DATABASE).touch()
    assert set(opened("homes: [{path: .hermes}]").estate().records) == {"hermes"}


@shows("homes[].act")
def test_a_new_home_is_only_observed(opened: Opener, tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / DATABASE).touch()
    sexton = opened("homes: [{path: agent}]")
    _, record = sexton.attach(sexton.settings.homes[0])
    assert not record.act
    estate = sexton.estate()
    assert estate.removing is not None
    alone = replace(estate, removing=replace(estate.removing, unattended=True))
    assert alone.is_observed("agent")
    assert not estate.is_observed("agent"), "a person's word is enough"


@shows("homes[].send_to")
def test_a_home_that_is_only_observed_tells_nobody(opened: Opener, tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / DATABASE).touch()
    (tmp_path / "agent" / ".env").write_text("TELEGRAM_HOME_CHANNEL=1\n")
    assert home_channels(opened("homes: [{path: agent}]"), {}) == {}
    assert set(home_channels(opened("homes: [{path: agent, act: true}]"), {})) == {"agent"}


def conversation(opened: Opener, messages: int, size: int) -> Reason | None:
    """Why a conversation of a home's gateway that is so big would be reset."""
    [home] = opened("homes: [{path: agent}]").settings.homes
    own = OwnRules(home.path, "UTC", limits(home.max_messages, home.max_bytes))
    session = Session(
        ref=0, home=home.name, id="talk", key="agent:main:telegram:dm:7", source="telegram",
        started_at=START, active_at=START, message_count=messages, byte_count=size,
    )  # fmt: skip
    return reset_reason(session, decode(own.text()).reset_policy(session), START)


@shows("homes[].max_messages")
def test_a_conversation_of_a_home_is_reset_at_a_thousand_messages(opened: Opener) -> None:
    assert conversation(opened, 999, 0) is None
    reason = conversation(opened, 1000, 0)
    assert reason is not None
    assert reason.code == "max_messages"


@shows("homes[].max_bytes")
def test_a_conversation_of_a_home_is_reset_at_ten_megabytes(opened: Opener) -> None:
    assert conversation(opened, 1, 9_999_999) is None
    reason = conversation(opened, 1, 10_000_000)
    assert reason is not None
    assert reason.code == "max_bytes"


@shows("reset.mode")
def test_by_default_silence_never_ends_a_session(opened: Opener, clock: ManualClock) -> None:
    sexton = opened("")
    write(sexton)
    clock.set(FAR)
    assert ended(sexton) == []


@shows("reset.idle_minutes")
def test_an_idle_session_is_reset_after_a_day(opened: Opener, clock: ManualClock) -> None:
    sexton = opened("reset: {mode: idle}")
    write(sexton)
    clock.advance(DAY - timedelta(seconds=1))
    assert ended(sexton) == []
    clock.advance(1)
    assert ended(sexton) == ["idle"]


@shows("reset.at_hour")
def test_the_daily_reset_is_at_four(opened: Opener, clock: ManualClock) -> None:
    sexton = opened("reset: {mode: daily, timezone: UTC}")
    write(sexton)
    clock.set(datetime(2026, 6, 2, 3, 59, 59, tzinfo=UTC))
    assert ended(sexton) == []
    clock.set(datetime(2026, 6, 2, 4, tzinfo=UTC))
    assert ended(sexton) == ["daily"]


@shows("reset.timezone")
def test_the_hour_of_the_daily_reset_is_in_utc(opened: Opener, clock: ManualClock) -> None:
    sexton = opened("reset: {mode: daily, at_hour: 23}")
    write(sexton)
    clock.set(datetime(2026, 6, 1, 22, 59, 59, tzinfo=UTC))
    assert ended(sexton) == []
    clock.set(datetime(2026, 6, 1, 23, tzinfo=UTC))
    assert ended(sexton) == ["daily"]


@shows("reset.max_age")
def test_age_alone_never_ends_a_session(opened: Opener, clock: ManualClock) -> None:
    sexton = opened("")
    with sexton.worker() as worker:
        young = worker.session("chat", source="telegram").id
        clock.set(FAR)
        assert (ended(sexton), warned(sexton)) == ([], [])
        assert worker.session("chat", source="telegram").id == young


@shows("reset.max_messages")
def test_no_number_of_messages_ends_a_session(opened: Opener) -> None:
    sexton = opened("")
    write(sexton, messages=5000)
    assert ended(sexton) == []
    with sexton.worker() as worker:
        assert worker.session("chat", source="telegram").opened is Opened.ADOPTED


@shows("reset.max_bytes")
def test_no_size_ends_a_session(opened: Opener) -> None:
    policy = opened("").settings.rulebook.reset
    session = replace(a_session(START), byte_count=MOST)
    assert reset_reason(session, policy, START) is None


@shows("reset.warn_messages")
def test_the_thousandth_message_warns_once_and_ends_nothing(opened: Opener) -> None:
    sexton = opened("")
    write(sexton, messages=999)
    assert warned(sexton) == []
    write(sexton)
    assert warned(sexton) == ["large_messages"]
    assert len(sexton.sweep().outcomes) == 1
    assert sexton.sweep().outcomes == ()
    assert sexton.ledger.index.due(FAR, None, 9) == []
    write(sexton, messages=1000)
    assert sexton.ledger.index.due(FAR, None, 9) == []


@shows("reset.warn_bytes")
def test_ten_megabytes_warn_once_and_end_nothing(opened: Opener) -> None:
    sexton = opened("")
    write(sexton, content="x" * 9_999_999)
    assert warned(sexton) == []
    write(sexton, content="x")
    assert warned(sexton) == ["large_bytes"]
    assert len(sexton.sweep().outcomes) == 1
    assert sexton.sweep().outcomes == ()
    assert sexton.ledger.index.due(FAR, None, 9) == []


@shows("reset.max_turns")
def test_turns_alone_never_end_a_session(opened: Opener) -> None:
    policy = opened("").settings.rulebook.reset
    session = replace(a_session(START), turn_count=MOST)
    assert reset_reason(session, policy, START) is None
    assert limit_warning(session, policy, START) is None


@shows("reset.warn_at")
def test_a_session_is_warned_at_four_fifths_of_a_limit(opened: Opener) -> None:
    sexton = opened("reset: {max_messages: 1000}")
    write(sexton, messages=799)
    assert warned(sexton) == []
    write(sexton)
    assert warned(sexton) == ["near_max_messages"]


@shows("reset.rules")
def test_without_rules_all_sessions_have_the_same_policy(opened: Opener) -> None:
    rulebook = opened("reset: {mode: idle}").settings.rulebook
    assert rulebook.reset_rules == ()
    assert rulebook.reset_policy(a_session(START)) is rulebook.reset


@shows("reset.rules[].sources")
def test_a_rule_without_sources_is_for_every_source(opened: Opener, clock: ManualClock) -> None:
    sexton = opened("reset: {rules: [{chat_types: [group], mode: idle}]}")
    write(sexton, source="discord", chat_type="group")
    clock.advance(DAY)
    assert ended(sexton) == ["idle"]


@shows("reset.rules[].chat_types")
def test_a_rule_without_chat_types_is_for_every_chat_type(
    opened: Opener, clock: ManualClock
) -> None:
    sexton = opened("reset: {rules: [{sources: [discord], mode: idle}]}")
    write(sexton, source="discord", chat_type="thread")
    clock.advance(DAY)
    assert ended(sexton) == ["idle"]


@shows("reset.rules[].keys")
def test_a_rule_without_keys_is_for_every_key(opened: Opener, clock: ManualClock) -> None:
    sexton = opened("reset: {rules: [{sources: [discord], mode: idle}]}")
    with sexton.worker() as worker:
        worker.session(None, source="discord").append(role="user", content="no key at all")
        worker.session("any", source="discord").append(role="user", content="some key")
    clock.advance(DAY)
    assert ended(sexton) == ["idle", "idle"]


@shows("reset.rules[].*")
def test_a_rule_inherits_what_it_does_not_set(opened: Opener, clock: ManualClock) -> None:
    sexton = opened("reset: {idle_minutes: 120, rules: [{sources: [telegram], mode: idle}]}")
    write(sexton)
    clock.advance(timedelta(minutes=119))
    assert ended(sexton) == []
    clock.advance(timedelta(minutes=1))
    assert ended(sexton) == ["idle"]


@shows("liveness.dies_with_owner")
def test_unattended_sessions_end_with_their_process_and_others_wait(opened: Opener) -> None:
    sexton = opened("")
    sources = ("cli", "cron", "subagent", "batch", "telegram", "agent")
    with sexton.worker() as worker:
        ids = {source: worker.session(source, source=source).id for source in sources}
    still_open = {source for source, id in ids.items() if sexton.find(id).is_open}
    assert still_open == {"telegram", "agent"}


@shows("liveness.beat_every")
def test_a_process_shows_every_fifteen_seconds_that_it_lives(
    opened: Opener, clock: ManualClock
) -> None:
    sexton = opened("")
    policy = sexton.rules(None).rules.liveness
    member = Membership(sexton.ledger, clock, sexton.processes, lambda: policy, "agent")
    assert member.pace() == 15


@shows("liveness.ttl")
def test_a_process_elsewhere_is_suspected_after_half_of_ninety_silent_seconds(
    opened: Opener, clock: ManualClock
) -> None:
    sexton = opened("")
    far = a_worker_elsewhere(sexton)
    verdicts, watch = [], Watch()
    for step in (0, 44, 1):
        clock.advance(step)
        watch = listen(watch, {far.id: far.beat}, sexton.estate().look(), 90)
        (proof,) = replace(sexton.estate(), watch=watch).evidence([far]).values()
        verdicts.append(proof.verdict)
    assert verdicts == [Verdict.UNKNOWN, Verdict.UNKNOWN, Verdict.SUSPECT]


@shows("liveness.lock_delay")
def test_silence_counts_as_death_fifteen_seconds_after_the_ttl(
    opened: Opener, clock: ManualClock
) -> None:
    sexton = opened("")
    workers = [sexton.worker() for _ in range(6)]  # so many that one death is none of a mass
    for each in workers:
        each.session(source="telegram")
    session = held_by(sexton, a_worker_elsewhere(sexton))
    keeper = sexton.keeper(workers[0])
    for step in (0, 60, 44):
        clock.advance(step)
        keeper.sweep()
        assert sexton.find(session).is_open
    clock.advance(1)
    keeper.sweep()
    keeper.close()
    assert sexton.find(session).end_reason == "reaped:lease_expired"


@shows("liveness.stall_after")
def test_a_turn_without_progress_for_ten_minutes_is_shown_as_stalled(
    opened: Opener, clock: ManualClock
) -> None:
    sexton = opened("")
    with sexton.worker() as worker:
        session = worker.session("chat", source="telegram")
        with session.turn():
            clock.advance(599)
            assert not stalled(sexton, session.id)
            clock.advance(1)
            assert stalled(sexton, session.id)


@shows("liveness.inactivity_bound")
def test_silence_alone_never_counts_as_death(opened: Opener, clock: ManualClock) -> None:
    sexton = opened("")
    write(sexton)
    clock.set(FAR)
    assert not [a for a in sexton.plan().actions if isinstance(a, ReapSession)]
    bound = load_text(sexton, "liveness: {inactivity_bound: {telegram: 7d}}")
    (reap,) = sexton.plan(rules=bound).actions
    assert reap.reason.code == "reaped:inactive"


@shows("processes.on_idle_reset")
def test_after_an_idle_reset_a_process_runs_on_and_people_are_told(
    opened: Opener, clock: ManualClock, sleeper: int
) -> None:
    sexton = opened("reset: {mode: idle}")
    session = with_process(sexton, sleeper)
    clock.advance(DAY)
    assert_left_and_told(sexton, session, sleeper, "idle")


@shows("processes.on_daily_reset")
def test_after_a_daily_reset_a_process_runs_on_and_people_are_told(
    opened: Opener, clock: ManualClock, sleeper: int
) -> None:
    sexton = opened("reset: {mode: daily}")
    session = with_process(sexton, sleeper)
    clock.advance(DAY)
    assert_left_and_told(sexton, session, sleeper, "daily")


@shows("processes.on_end")
def test_after_any_other_end_a_process_runs_on_and_people_are_told(
    opened: Opener, sleeper: int
) -> None:
    sexton = opened("")
    session = with_process(sexton, sleeper)
    session.end()
    assert_left_and_told(sexton, session, sleeper, "closed")


@shows("processes.on_reap")
def test_after_a_reap_a_process_runs_on_and_people_are_told(opened: Opener, sleeper: int) -> None:
    sexton = opened("")
    session = with_process(sexton, sleeper, source="cli")
    dead = [(each.worker, "process_gone: gone") for each in sexton.find(session.id).holders]
    sexton.ledger.reaping.declare(dead, sexton.clock.now())
    assert_left_and_told(sexton, session, sleeper, "reaped:process_gone")


@shows("processes.window")
def test_a_process_is_judged_by_its_last_minute(
    opened: Opener, clock: ManualClock, sleeper: int
) -> None:
    sexton = opened("")
    session = with_process(sexton, sleeper)
    (process,) = sexton.ledger.registry.running()
    sexton.ledger.registry.judge([(process.ref, Doing.WORKING, process.figures)], clock.now())
    clock.advance(120)  # a judgement counts for two windows
    assert session.processes()[0].doing is Doing.WORKING
    clock.advance(1)
    assert session.processes()[0].doing is not Doing.WORKING


@shows("processes.ttl")
def test_a_working_process_holds_a_reset_for_the_idle_time_and_no_longer(
    opened: Opener, clock: ManualClock, sleeper: int
) -> None:
    sexton = opened("reset: {mode: idle, idle_minutes: 60}")
    session = with_process(sexton, sleeper)
    (watched,) = session.processes()
    assert watched.holds_until == clock.now() + timedelta(minutes=120)


@shows("processes.grace")
def test_a_process_has_ten_seconds_to_end(opened: Opener, clock: ManualClock) -> None:
    sexton = opened("processes: {on_end: stop}")
    sexton.overseer.stopper = Stopper(clock)
    with subprocess.Popen(["sh", "-c", DEAF], stdout=subprocess.PIPE) as deaf:
        assert deaf.stdout is not None
        deaf.stdout.readline()  # it is deaf by now
        session = with_process(sexton, deaf.pid)
        session.end()
        sweeping = threading.Thread(target=sexton.sweep)
        sweeping.start()
        deaf.stdout.readline()  # it was asked to end
        clock.advance(9.9)
        assert deaf.poll() is None
        clock.advance(0.1)
        sweeping.join(240)
        assert deaf.wait(240) == -signal.SIGKILL


@shows("processes.notice")
def test_half_an_hour_before_a_daily_reset_stops_something_people_hear_of_it(
    opened: Opener, clock: ManualClock, sleeper: int
) -> None:
    sexton = opened("reset: {mode: daily}\nprocesses: {on_daily_reset: stop}")
    session = with_process(sexton, sleeper)
    clock.advance(timedelta(hours=15, minutes=29))  # since noon
    sexton.sweep()
    assert told(sexton, session, "announce_stop") == []
    clock.advance(60)
    sexton.sweep()
    assert told(sexton, session, "announce_stop") == [clock.now()]


def spend(sexton: Sexton, key: str = "a", source: str = "telegram", **used: int) -> None:
    """One call of a model, in a turn of its own."""
    with sexton.worker() as worker, worker.session(key, source=source).turn() as turn:
        given: dict[str, Any] = dict(used)
        turn.reserve(**given).commit(**given)


def bounded_only_by(sexton: Sexton, *units: str) -> bool:
    """Whether budgets of a session bound these and nothing else."""
    budgets = sexton.settings.rulebook.spend.budgets
    return {each.unit for each in budgets if each.scope == "session"} == set(units)


def budget_of(text: str) -> str:
    return f"budgets: [{{scope: session, {text}}}]"


@shows("budgets")
def test_without_settings_a_turn_and_a_tree_are_bounded(opened: Opener, clock: ManualClock) -> None:
    sexton = opened("")
    with sexton.worker() as worker, worker.session("a", source="telegram").turn() as turn:
        for _ in range(200):
            turn.reserve().commit()
        with pytest.raises(BudgetExceeded) as caught:
            turn.reserve()
        assert caught.value.budget == "turn.iterations"
    for _ in range(10):
        spend(sexton, "b", input_tokens=500_000)
        clock.advance(61)
    with pytest.raises(BudgetExceeded) as caught:
        spend(sexton, "b", input_tokens=1)
    assert caught.value.budget == "tree.tokens/1h"
    clock.advance(timedelta(hours=1))
    spend(sexton, "b", input_tokens=1)


@shows("budgets[].scope")
def test_a_budget_without_a_scope_is_refused(opened: Opener) -> None:
    with pytest.raises(SettingsInvalid, match="scope"):
        opened("budgets: [{tokens: 1}]")


@shows("budgets[].tokens")
def test_tokens_are_not_bounded_by_a_budget_of_something_else(opened: Opener) -> None:
    sexton = opened(budget_of("tool_calls: 1"))
    assert bounded_only_by(sexton, "tool_calls")
    spend(sexton, input_tokens=500_000)


@shows("budgets[].input_tokens")
def test_input_tokens_are_not_bounded_by_themselves(opened: Opener) -> None:
    sexton = opened(budget_of("output_tokens: 5"))
    assert bounded_only_by(sexton, "output_tokens")
    spend(sexton, input_tokens=500_000)


@shows("budgets[].output_tokens")
def test_output_tokens_are_not_bounded_by_themselves(opened: Opener) -> None:
    sexton = opened(budget_of("input_tokens: 5"))
    assert bounded_only_by(sexton, "input_tokens")
    with sexton.worker() as worker, worker.session("a").turn() as turn:
        turn.reserve(max_output_tokens=500_000).commit(output_tokens=500_000)


@shows("budgets[].cached_tokens")
def test_cached_tokens_are_not_bounded_by_themselves(opened: Opener) -> None:
    sexton = opened(budget_of("input_tokens: 5"))
    assert bounded_only_by(sexton, "input_tokens")
    spend(sexton, cached_tokens=500_000)


@shows("budgets[].reasoning_tokens")
def test_reasoning_tokens_are_not_bounded_by_themselves(opened: Opener) -> None:
    sexton = opened(budget_of("input_tokens: 5"))
    assert bounded_only_by(sexton, "input_tokens")
    spend(sexton, reasoning_tokens=500_000)


@shows("budgets[].usd")
def test_money_is_not_bounded_by_itself(opened: Opener) -> None:
    prices = "prices: {models: {dear: {input: 1000, output: 1000}}}"
    sexton = opened(f"{budget_of('tool_calls: 1')}\n{prices}")
    assert bounded_only_by(sexton, "tool_calls")
    with sexton.worker() as worker, worker.session("a").turn() as turn:
        turn.reserve(input_tokens=100_000, model="dear").commit(input_tokens=100_000)


@shows("budgets[].iterations")
def test_the_iterations_of_a_session_are_not_bounded_by_themselves(opened: Opener) -> None:
    sexton = opened(budget_of("tool_calls: 1"))
    assert bounded_only_by(sexton, "tool_calls")
    with sexton.worker() as worker:
        session = worker.session("a", source="telegram")
        for _ in range(201):
            with session.turn():
                pass


@shows("budgets[].tool_calls")
def test_tool_calls_are_not_bounded_by_themselves(opened: Opener, clock: ManualClock) -> None:
    sexton = opened(budget_of("tokens: 5"))
    assert bounded_only_by(sexton, "tokens")
    with sexton.worker() as worker, worker.session("a").turn() as turn:
        for number in range(300):
            clock.advance(1)
            with turn.tool("t", number) as call:
                call.ok(number)


@shows("budgets[].messages")
def test_messages_are_not_bounded_by_a_budget_of_something_else(
    opened: Opener, clock: ManualClock
) -> None:
    sexton = opened(budget_of("tokens: 5"))
    assert bounded_only_by(sexton, "tokens")
    write(sexton, messages=140)
    clock.advance(61)
    write(sexton, messages=140)
    spend(sexton, "chat", input_tokens=5)


@shows("budgets[].wall")
def test_time_is_not_bounded_by_itself(opened: Opener, clock: ManualClock) -> None:
    sexton = opened(budget_of("tokens: 5"))
    assert bounded_only_by(sexton, "tokens")
    with sexton.worker() as worker, worker.session("a").turn() as turn:
        clock.advance(FAR - START)
        turn.reserve().release()


@shows("budgets[].action")
def test_a_spent_budget_pauses(opened: Opener) -> None:
    sexton = opened(budget_of("tokens: 5"))
    spend(sexton, input_tokens=5)
    with pytest.raises(BudgetExceeded):
        spend(sexton, input_tokens=1)
    assert not ended(sexton)


@shows("budgets[].sources")
def test_a_budget_is_for_every_source(opened: Opener) -> None:
    sexton = opened(budget_of("tokens: 5"))
    for source in ("telegram", "cron", "anything"):
        with pytest.raises(BudgetExceeded):
            spend(sexton, source, source, input_tokens=6)


@shows("budgets[].per")
def test_a_budget_is_for_ever(opened: Opener, clock: ManualClock) -> None:
    sexton = opened(budget_of("tokens: 5"))
    spend(sexton, input_tokens=5)
    clock.set(FAR)
    with pytest.raises(BudgetExceeded):
        spend(sexton, input_tokens=1)


@shows("budgets[].name")
def test_a_budget_is_named_by_what_it_bounds(opened: Opener) -> None:
    sexton = opened("budgets: [{scope: day, tokens: 5, tool_calls: 1, sources: [telegram]}]")
    with pytest.raises(BudgetExceeded) as caught:
        spend(sexton, input_tokens=6)
    assert caught.value.budget == "day.tokens@telegram"


@shows("prices.models")
def test_no_model_has_a_price_of_ones_own(opened: Opener) -> None:
    for text in ("", "prices: {models: {mine: {input: 1, output: 1}}}"):
        sexton = opened(f"{budget_of('usd: 5')}\n{text}")
        with sexton.worker() as worker, worker.session("a").turn() as turn:
            if text:
                turn.reserve(input_tokens=1, model="mine").release()
            else:
                with pytest.raises(PriceUnknown):
                    turn.reserve(input_tokens=1, model="mine")


@shows("prices.unknown")
def test_a_model_without_a_price_is_refused_where_money_is_counted(opened: Opener) -> None:
    sexton = opened(budget_of("usd: 5"))
    with (
        sexton.worker() as worker,
        worker.session("a").turn() as turn,
        pytest.raises(PriceUnknown),
    ):
        turn.reserve(input_tokens=1, model="nobody-knows-this-model")


@shows("breaker.warn_at")
def test_tools_that_fail_are_told_at_three_six_and_nine(opened: Opener) -> None:
    told = []
    with opened("").worker() as worker, worker.session("a").turn() as turn:
        for number in range(1, 10):
            with turn.tool("t", number) as call:
                call.error(f"{number}")
            told += [number] if turn.advice() else []
    assert told == [3, 6, 9]


@shows("breaker.cool_down")
def test_tools_are_stopped_for_a_minute(opened: Opener, clock: ManualClock) -> None:
    with opened("").worker() as worker, worker.session("a").turn() as turn:
        for number in range(9):
            with turn.tool("t", number) as call:
                call.error(f"{number}")
        clock.advance(59)
        with pytest.raises(BreakerOpen), turn.tool("t"):
            pass
        clock.advance(1)
        with turn.tool("t"):
            pass


@shows("runaway.messages")
def test_no_number_of_messages_in_a_minute_stops_a_session(opened: Opener) -> None:
    with opened("").worker() as worker:
        session = worker.session("a", source="cron")
        with session.turn() as turn:
            session.append_many([{"role": "user", "content": "x"}] * 5000)
            turn.reserve().release()


@shows("runaway.warn_messages")
def test_150_messages_in_a_minute_are_noted_once(opened: Opener) -> None:
    def noted() -> list[str]:
        page = sexton.ledger.journal.page(None, None, None, 100)
        return [entry.reason.code for entry in page if entry.action == "warn"]

    sexton = opened("")
    with sexton.worker() as worker:
        session = worker.session("a", source="telegram")
        with session.turn() as turn:
            session.append_many([{"role": "user", "content": "x"}] * 149)
            turn.reserve().release()
            assert noted() == []
            session.append(role="user", content="x")
            turn.reserve().release()
            turn.reserve().release()
            assert noted() == ["near_budget:runaway.messages"]


@shows("runaway.tokens")
def test_a_million_tokens_in_a_minute_are_a_loop(opened: Opener) -> None:
    with opened("").worker() as worker, worker.session("a").turn() as turn:
        turn.reserve(input_tokens=999_999).commit(input_tokens=999_999)
        turn.reserve(input_tokens=1).commit(input_tokens=1)
        with pytest.raises(BudgetExceeded) as caught:
            turn.reserve(input_tokens=1)
        assert (caught.value.budget, caught.value.limit) == ("runaway.tokens", 1_000_000)


@shows("runaway.tool_calls")
def test_120_tool_calls_in_a_minute_are_a_loop(opened: Opener) -> None:
    with opened("").worker() as worker, worker.session("a").turn() as turn:
        for number in range(120):
            with turn.tool("t", number) as call:
                call.ok(number)
        with pytest.raises(BudgetExceeded) as caught, turn.tool("t"):
            pass
        assert (caught.value.budget, caught.value.limit) == ("runaway.tool_calls", 120)
