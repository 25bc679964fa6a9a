"""Native sessions from their first message to their end, on both engines."""

from __future__ import annotations

import contextvars
import logging
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from sexton.core.plan import EndSession, Result, WarnSession
from sexton.core.session import Limit, Session, State
from sexton.errors import (
    InputInvalid,
    LedgerClosed,
    SessionBusy,
    SessionEnded,
    SessionFenced,
    SessionNotFound,
    WorkerLeft,
)
from sexton.liveness.evidence import Sight
from sexton.liveness.model import Identity
from sexton.liveness.process_identity import SystemProcesses
from sexton.resets.policy import Mode, ResetPolicy
from sexton.rules.rulebook import ResetRule, Rulebook
from sexton.sessions.model import Filter
from sexton.settings.settings_values import Settings
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from tests.golden import golden

IDLE = ResetPolicy(mode=Mode.IDLE, idle_minutes=60)


class Machine(SystemProcesses):
    """The real process table, with some processes that the test has declared gone."""

    def __init__(self) -> None:
        self.gone: set[int] = set()
        self.next_pid = 1_000_000_000

    def myself(self) -> Identity:
        """Every worker is a process of its own."""
        self.next_pid += 1
        return replace(super().myself(), pid=self.next_pid)

    def look(self, identity: Identity) -> Sight:
        return Sight.GONE if identity.pid in self.gone else Sight.PRESENT


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def house(engine_url: str, manual_clock: ManualClock, machine: Machine) -> Iterator[Sexton]:
    opened = Sexton(
        open_ledger(engine_url),
        Settings(rulebook=Rulebook(reset=IDLE)),
        clock=manual_clock,
        processes=machine,
    )
    opened.publish()
    yield opened
    opened.close()


def the(house: Sexton, id: str) -> Session:
    return house.find(id)


def forget(house: Sexton, machine: Machine) -> None:
    """The process of every worker dies without a word."""
    machine.gone.update(worker.identity.pid for worker in house.ledger.workers.all())


def test_a_key_means_the_same_session_until_it_is_over(
    house: Sexton, manual_clock: ManualClock
) -> None:
    with house.worker() as worker:
        first = worker.session("chat:1", source="telegram")
        first.append(role="user", content="hello")
        manual_clock.advance(timedelta(minutes=59))
        assert worker.session("chat:1").id == first.id
        manual_clock.advance(timedelta(minutes=1))
        second = worker.session("chat:1", source="telegram")
        assert second.id != first.id
    ended = the(house, first.id)
    assert (ended.state, ended.end_reason) == (State.ENDED, "idle")


def test_opening_a_session_again_never_rearms_its_idle_clock(
    house: Sexton, manual_clock: ManualClock
) -> None:
    with house.worker() as worker:
        first = worker.session("chat:1")
        first.append(role="user", content="hello")
    for _ in range(3):
        manual_clock.advance(timedelta(minutes=20))
        with house.worker() as worker:
            again = worker.session("chat:1")
    assert again.id != first.id


def test_a_second_worker_joins_without_taking_over(house: Sexton) -> None:
    with house.worker() as one, house.worker() as two:
        ours = one.session("chat:1")
        theirs = two.session("chat:1")
        assert (theirs.id, theirs.epoch) == (ours.id, ours.epoch)
        ours.append(role="user", content="a")
        theirs.append(role="user", content="b")
        assert [message.content for message in ours.messages()] == ["a", "b"]
        assert len(the(house, ours.id).holders) == 2


def test_adopting_a_dead_owners_conversation_fences_the_dead_off(
    house: Sexton, machine: Machine
) -> None:
    dead = house.worker().session("chat:1", source="telegram")
    dead.append(role="user", content="before")
    forget(house, machine)
    with house.worker() as worker:
        adopted = worker.session("chat:1")
        assert (adopted.id, adopted.epoch) == (dead.id, dead.epoch + 1)
        with pytest.raises(SessionFenced):
            dead.append(role="user", content="from the grave")
        for write in (dead.pin, lambda: dead.retitle("Mine"), dead.reset, dead.end):
            with pytest.raises(SessionFenced):
                write()
        assert (the(house, dead.id).pinned, the(house, dead.id).title) == (False, None)
        adopted.append(role="user", content="after")
        assert [message.content for message in adopted.messages()] == ["before", "after"]


def test_an_ownerless_conversation_is_adopted_by_the_next_opener(house: Sexton) -> None:
    with house.worker() as first:
        left = first.session("chat:1", source="telegram")
    assert the(house, left.id).is_open
    with house.worker() as second:
        adopted = second.session("chat:1")
        assert (adopted.id, adopted.epoch) == (left.id, left.epoch + 1)


@pytest.mark.parametrize("source", ["cli", "cron", "subagent", "batch"])
def test_the_last_holder_ends_a_session_that_dies_with_it(house: Sexton, source: str) -> None:
    with house.worker() as one:
        with house.worker() as two:
            session = one.session("job", source=source)
            two.session("job")
        assert the(house, session.id).is_open
    ended = the(house, session.id)
    assert (ended.state, ended.end_reason) == (State.ENDED, "closed")


def test_a_keeper_resets_what_is_due_and_says_why(house: Sexton, manual_clock: ManualClock) -> None:
    with house.worker() as worker:
        old = worker.session("old")
        old.append(role="user", content="x")
        manual_clock.advance(timedelta(minutes=45))
        young = worker.session("young")
        young.append(role="user", content="x")
        manual_clock.advance(timedelta(minutes=30))
        plan = house.plan()
        assert [action.seen.id for action in plan.actions] == [old.id]
        assert isinstance(plan.actions[0], EndSession)
        assert the(house, old.id).is_open, "planning changes nothing"
        sweep = house.sweep()
        assert [outcome.result for outcome in sweep.outcomes] == [Result.DONE]
        assert the(house, old.id).end_reason == "idle"
        assert the(house, young.id).is_open
        with pytest.raises(SessionEnded):
            old.append(role="user", content="too late")
    entry = house.ledger.journal.page(the(house, old.id), None, None, 1)[0]
    assert (entry.action, entry.result, entry.reason.code) == ("end", "done", "idle")
    assert entry.receipt == sweep.receipt


def test_a_stale_plan_does_no_harm(house: Sexton, manual_clock: ManualClock) -> None:
    with house.worker() as worker:
        session = worker.session("chat:1")
        manual_clock.advance(timedelta(hours=2))
        plan = house.plan()
        session.append(role="user", content="I am back")
        outcomes = house.apply(plan)
    assert [outcome.result for outcome in outcomes] == [Result.SKIPPED]
    golden("outcomes", "skipped: active meanwhile", outcomes[0].detail)
    assert the(house, session.id).is_open


def test_a_plan_does_not_end_what_was_pinned_or_busy_after_it_was_made(
    house: Sexton, manual_clock: ManualClock
) -> None:
    with house.worker() as worker:
        pinned, busy = worker.session("pinned"), worker.session("busy")
        manual_clock.advance(timedelta(hours=2))
        plan = house.plan()
        pinned.pin()
        with busy.turn():
            outcomes = house.apply(plan)
            assert {outcome.result for outcome in outcomes} == {Result.SKIPPED}
        assert the(house, pinned.id).is_open
        assert the(house, busy.id).is_open


def test_a_plan_made_under_other_policies_is_not_carried_out(
    house: Sexton, manual_clock: ManualClock
) -> None:
    with house.worker() as worker:
        session = worker.session("chat:1")
        manual_clock.advance(timedelta(hours=2))
        plan = house.plan()
        relaxed = Rulebook(reset=ResetPolicy())
        Sexton(house.ledger, Settings(rulebook=relaxed), clock=manual_clock).publish()
        [outcome] = house.apply(plan)
        assert outcome.result is Result.SKIPPED
        golden("outcomes", "skipped: other policies", outcome.detail)
        assert the(house, session.id).is_open


def test_planning_with_other_rules_sees_every_session_and_puts_nothing_in_force(
    house: Sexton, manual_clock: ManualClock
) -> None:
    with house.worker() as worker:
        session = worker.session("chat:1")
        manual_clock.advance(timedelta(minutes=10))
        strict = Rulebook(reset=replace(IDLE, idle_minutes=5))
        assert [each.seen.id for each in house.plan(rules=strict).actions] == [session.id]
        assert house.plan().actions == ()
        assert worker.session("chat:1").id == session.id


def test_a_session_is_reset_at_its_limit_of_turns_also_when_it_writes_in_them(
    house: Sexton, manual_clock: ManualClock
) -> None:
    limited = Rulebook(reset=ResetPolicy(max_turns=5))
    Sexton(house.ledger, Settings(rulebook=limited), clock=manual_clock).publish()
    with house.worker() as worker:
        session = worker.session("chat:1")
        codes = []
        for _ in range(5):
            with session.turn():
                session.append(role="user", content="x")
            codes += [outcome.action.reason.code for outcome in house.sweep().outcomes]
    assert codes == ["near_max_turns", "max_turns"]


def test_a_message_that_arrives_while_its_session_is_being_reset_keeps_it_alive(
    house: Sexton, manual_clock: ManualClock
) -> None:
    with house.worker() as one, house.worker() as two:
        session = one.session("chat:1")
        manual_clock.advance(timedelta(hours=2))
        overdue = house.ledger.book.current("chat:1")
        assert overdue is not None
        session.append(role="user", content="just in time")
        assert two.session("chat:1").id == session.id
        assert the(house, session.id).is_open


def test_every_end_is_in_the_journal_with_who_did_it(house: Sexton) -> None:
    with house.worker() as worker:
        asked = worker.session("asked")
        asked.end("done")
        closed = worker.session("closed", source="cli")
    for session, code in ((asked, "done"), (closed, "closed")):
        [entry] = house.ledger.journal.page(the(house, session.id), None, None, 9)
        assert (entry.action, entry.reason.code, entry.actor) == ("end", code, house.actor)


def test_a_worker_that_has_left_opens_nothing(house: Sexton) -> None:
    with house.worker() as worker:
        pass
    with pytest.raises(WorkerLeft):
        worker.session("chat:1")


def test_closing_leaves_what_was_held_and_a_closed_ledger_says_so(
    engine_url: str, manual_clock: ManualClock
) -> None:
    first = Sexton(open_ledger(engine_url), Settings(), clock=manual_clock)
    session = first.worker().session("job", source="cli")
    first.close()
    with pytest.raises(LedgerClosed):
        session.append(role="user", content="x")
    with Sexton(open_ledger(engine_url), Settings(), clock=manual_clock) as second:
        assert second.find(session.id).end_reason == "closed"


def test_a_session_is_found_by_the_beginning_of_its_id(house: Sexton) -> None:
    with house.worker() as worker:
        session = worker.session("chat:1")
        assert house.find(session.id[:8]).id == session.id
        with pytest.raises(SessionNotFound):
            house.find(session.id[:3])


def test_two_keepers_with_the_same_plan_end_a_session_once(
    house: Sexton, manual_clock: ManualClock
) -> None:
    with house.worker() as worker:
        session = worker.session("chat:1")
        manual_clock.advance(timedelta(hours=2))
        plan = house.plan()
        results = [house.apply(plan)[0].result for _ in range(2)]
    assert results == [Result.DONE, Result.SKIPPED]
    ends = [e for e in house.ledger.journal.page(the(house, session.id), None, None, 9)]
    assert len(ends) == 1


def test_a_running_turn_holds_a_reset_back_until_it_ends(
    house: Sexton, manual_clock: ManualClock
) -> None:
    with house.worker() as worker:
        session = worker.session("chat:1")
        with session.turn():
            manual_clock.advance(timedelta(hours=2))
            sweep = house.sweep()
            assert sweep.outcomes == ()
            assert [held.holding.code for held in sweep.held] == ["busy"]
            assert worker.session("chat:1").id == session.id
            assert "held" in [answer.answer for answer in house.why(session.id).answers]
        assert [o.result for o in house.sweep().outcomes] == [Result.DONE]


def test_a_reset_that_is_held_back_is_told_when_who_holds_it_changes_and_not_by_its_age(
    house: Sexton, manual_clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    one, other = house.worker(kind="one").session("chat:1"), house.worker(kind="other")
    with caplog.at_level(logging.INFO, "sexton.keeper"):
        with one.turn():
            manual_clock.advance(timedelta(hours=2))
            house.sweep()
            manual_clock.advance(timedelta(minutes=5))
            house.sweep()
            manual_clock.advance(timedelta(minutes=5))
            turn = other.session("chat:1").turn()
            turn.__enter__()
        house.sweep()
        one.pin()
        house.sweep()
        turn.__exit__(None, None, None)
        house.sweep()
        one.pin(False)
        house.sweep()
    golden("keeper", "a reset is held back by this and that", "\n".join(caplog.messages))


def test_a_reset_asked_for_by_an_agent_waits_for_the_turns_of_its_other_threads(
    house: Sexton,
) -> None:
    session, begun, over = house.worker().session("chat:1"), threading.Event(), threading.Event()

    def turn() -> None:
        with session.turn():
            session.compress(lambda _: "short", keep_head=0, keep_tail=0)
            begun.set()
            over.wait(240)

    session.append_many([{"role": "user", "content": "x"}] * 4)
    thread = threading.Thread(target=turn)
    thread.start()
    try:
        assert begun.wait(240)
        with session.turn(), pytest.raises(SessionBusy) as refused:
            session.reset()
        golden("errors", "a turn of another thread", str(refused.value).replace(session.id, "<id>"))
    finally:
        over.set()
        thread.join()
    with session.turn():
        fresh = session.reset()
    assert fresh.id != session.id


def test_a_reset_that_is_forced_waits_for_nobody(house: Sexton) -> None:
    session = house.worker().session("chat:1")
    context = contextvars.copy_context()
    turn = context.run(session.turn().__enter__)
    with pytest.raises(SessionBusy):
        session.reset()
    assert session.reset(force=True).id != session.id
    context.run(turn.__exit__, None, None, None)


@pytest.mark.parametrize("reason", ["compression", "reaped:x", "budget:y"])
def test_a_reason_of_sextons_own_ends_nothing(house: Sexton, reason: str) -> None:
    session = house.worker().session("chat:1")
    with pytest.raises(InputInvalid, match=reason):
        session.end(reason)
    assert house.find(session.id).is_open


def test_a_turn_of_a_dead_worker_holds_nothing_back(
    house: Sexton, manual_clock: ManualClock, machine: Machine
) -> None:
    session = house.worker().session("chat:1")
    session.turn().__enter__()
    forget(house, machine)
    manual_clock.advance(timedelta(hours=2))
    assert [outcome.result for outcome in house.sweep().outcomes] == [Result.DONE]


def test_a_turn_that_fails_is_not_busy_any_more_and_marks_the_session(house: Sexton) -> None:
    with house.worker() as worker:
        session = worker.session("chat:1")
        with pytest.raises(ZeroDivisionError), session.turn():
            1 / 0  # noqa: B018  # fails on purpose
        now = the(house, session.id)
        assert (now.errored, now.turn_count, now.holders[0].busy_since) == (True, 1, None)


def test_a_pin_holds_a_reset_back_until_it_is_taken_off(
    house: Sexton, manual_clock: ManualClock
) -> None:
    with house.worker() as worker:
        session = worker.session("chat:1")
        session.pin()
        manual_clock.advance(timedelta(hours=2))
        assert [held.holding.code for held in house.sweep().held] == ["pinned"]
        session.pin(False)
        assert [outcome.result for outcome in house.sweep().outcomes] == [Result.DONE]


def test_a_session_is_warned_once_and_reset_at_its_limit(
    house: Sexton, manual_clock: ManualClock
) -> None:
    limited = Rulebook(reset=replace(IDLE, max_messages=1000))
    Sexton(house.ledger, Settings(rulebook=limited), clock=manual_clock).publish()
    with house.worker() as worker:
        session = worker.session("chat:1")
        session.append_many([{"role": "user", "content": "x"}] * 800)
        warned = house.sweep().outcomes
        assert [type(outcome.action) for outcome in warned] == [WarnSession]
        assert the(house, session.id).warned is Limit.MESSAGES
        assert house.sweep().outcomes == ()
        session.append_many([{"role": "user", "content": "x"}] * 199)
        assert house.sweep().outcomes == ()
        session.append(role="user", content="the thousandth")
        assert [o.action.reason.code for o in house.sweep().outcomes] == ["max_messages"]


def test_due_sessions_that_are_not_due_after_all_leave_the_index(
    house: Sexton, manual_clock: ManualClock
) -> None:
    with house.worker() as worker:
        session = worker.session("chat:1")
        session.append_many([{"role": "user", "content": "x"}] * 800)
        house.sweep()
        house.sweep()
        assert house.ledger.index.due(manual_clock.now(), None, 10) == []


def test_new_policies_are_in_force_for_everybody_at_once(
    house: Sexton, manual_clock: ManualClock
) -> None:
    with house.worker() as worker:
        session = worker.session("chat:1", source="telegram")
        session.append(role="user", content="x")
        strict = Rulebook(
            reset=IDLE,
            reset_rules=(ResetRule(sources=("telegram",), policy=replace(IDLE, idle_minutes=5)),),
        )
        other = Sexton(house.ledger, Settings(rulebook=strict), clock=manual_clock)
        other.publish()
        manual_clock.advance(timedelta(minutes=6))
        assert [action.seen.id for action in house.plan().actions] == [session.id]
        assert worker.session("chat:1").id != session.id


def test_an_agent_learns_new_policies_from_its_next_write(
    house: Sexton, manual_clock: ManualClock
) -> None:
    with house.worker() as worker:
        session = worker.session("chat:1")
        relaxed = Rulebook(reset=replace(IDLE, idle_minutes=600))
        Sexton(house.ledger, Settings(rulebook=relaxed), clock=manual_clock).publish()
        session.append(role="user", content="written under the old policies")
        session.append(role="user", content="written under the new ones")
        due = the(house, session.id).due_at
        assert due == manual_clock.now() + timedelta(minutes=600)


def test_a_reset_on_request_starts_the_next_session_of_the_key(house: Sexton) -> None:
    with house.worker() as worker:
        first = worker.session("chat:1", source="telegram")
        second = first.reset()
        assert (second.key, second.source) == ("chat:1", "telegram")
        assert worker.session("chat:1").id == second.id
        assert the(house, first.id).end_reason == "reset"
        with pytest.raises(SessionEnded):
            first.append(role="user", content="x")
        with pytest.raises(SessionEnded):
            first.reset()


def test_a_reset_on_request_spares_another_workers_turn_unless_forced(house: Sexton) -> None:
    with house.worker() as one, house.worker() as two:
        ours = one.session("chat:1")
        with two.session("chat:1").turn():
            with pytest.raises(SessionBusy):
                ours.reset()
            assert ours.reset(force=True).id != ours.id


def test_the_first_end_reason_wins(house: Sexton) -> None:
    with house.worker() as worker:
        session = worker.session("chat:1")
        assert session.end("done")
        assert not session.end("done again")
        assert the(house, session.id).end_reason == "done"


def test_a_session_without_a_key_is_always_a_new_one(house: Sexton) -> None:
    with house.worker() as worker:
        assert worker.session().id != worker.session().id


def test_a_session_is_resumed_by_its_id_while_it_is_open(house: Sexton) -> None:
    with house.worker() as worker:
        session = worker.session("chat:1")
        assert worker.resume(session.id).id == session.id
        session.end("done")
        with pytest.raises(SessionEnded):
            worker.resume(session.id)


def test_children_know_their_parent_and_how_they_came_from_it(house: Sexton) -> None:
    with house.worker() as worker:
        parent = worker.session("chat:1")
        child = worker.session("sub", source="subagent", parent=parent, relation="subagent")
        assert (the(house, child.id).parent, the(house, child.id).relation) == (
            parent.id,
            "subagent",
        )
        with pytest.raises(InputInvalid, match="cousin"):
            worker.session("sub2", parent=parent, relation="cousin")


def test_lists_show_the_newest_activity_first_with_a_preview(
    house: Sexton, manual_clock: ManualClock
) -> None:
    with house.worker() as worker:
        for number in range(3):
            session = worker.session(f"chat:{number}", source="telegram")
            manual_clock.advance(1)
            session.append(role="user", content=f"question\n{number}\x1b[31m")
        listed = house.ledger.index.page(Filter(), None, 2)
    assert [each.preview for each in listed] == ["question 2 [31m", "question 1 [31m"]
    assert all(each.human_touched for each in listed)


def test_messages_of_unattended_sources_are_not_a_persons(house: Sexton) -> None:
    with house.worker() as worker:
        session = worker.session("job", source="cron")
        session.append(role="user", content="do it")
        assert not the(house, session.id).human_touched
