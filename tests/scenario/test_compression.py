"""A conversation that goes on in a shorter session, on both engines, also when all goes wrong."""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import pytest

import sexton.store.postgres  # noqa: F401  # imported before the fork, as in a warm agent
from sexton import wiring
from sexton.core.message import Message
from sexton.errors import (
    InputInvalid,
    SessionEnded,
    SessionFenced,
    SummaryFailed,
    SummaryPostponed,
)
from sexton.resets.policy import Mode, ResetPolicy
from sexton.rules.rulebook import Rulebook
from sexton.sessions.agent_session import OpenSession
from sexton.sessions.agent_worker import AgentWorker
from sexton.sessions.compression import Summarise
from sexton.sessions.model import Appended, Batch
from sexton.sessions.policy import span
from sexton.settings.settings_values import Settings
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from tests.golden import golden
from tests.kit.nursery import Nursery, Report

SECRET = "the secret of the conversation"
KILLS = 12


@pytest.fixture
def house(engine_url: str, manual_clock: ManualClock) -> Iterator[Sexton]:
    rules = Rulebook(reset=ResetPolicy(mode=Mode.IDLE, idle_minutes=60, max_turns=5))
    opened = Sexton(open_ledger(engine_url), Settings(rulebook=rules), clock=manual_clock)
    opened.publish()
    yield opened
    opened.close()


@pytest.fixture
def worker(house: Sexton) -> AgentWorker:
    return house.worker()


def talk(worker: AgentWorker, messages: int = 20, key: str | None = "talk") -> OpenSession:
    session = worker.session(key, chat_type="group", title="Plans")
    session.append_many({"role": "user", "content": f"m{n}"} for n in range(1, messages + 1))
    return session


def telling(text: str = "summary") -> Summarise:
    return lambda _: text


def failing(messages: list[Message]) -> str:
    raise ConnectionError(f"the model does not answer about {SECRET}")


def words(messages: Iterator[Message]) -> list[Any]:
    return [message.content for message in messages]


def named(first: int, last: int) -> list[str]:
    return [f"m{n}" for n in range(first, last + 1)]


def test_a_session_goes_on_in_a_child_with_a_summary_of_its_middle(
    house: Sexton, worker: AgentWorker
) -> None:
    session = talk(worker)
    parent, asked = session.id, []
    summary = session.compress(lambda messages: asked.extend(messages) or "in short")  # type: ignore[func-returns-value]
    assert words(iter(asked)) == named(3, 12)
    assert session.id != parent
    assert words(session.messages()) == ["m1", "m2", "in short", *named(13, 20)]
    assert summary is not None
    assert (summary.seq, summary.role, summary.content) == (3, "system", "in short")
    assert summary.extra["summary"] == {
        "of": parent, "from": 3, "through": 12, "messages": 10, "fallback": False,
    }  # fmt: skip
    old, new = house.find(parent), house.find(session.id)
    assert (old.end_reason, new.parent, new.relation) == ("compression", parent, "compression")
    assert (new.key, new.chat_type, new.title) == ("talk", "group", "Plans")
    assert worker.session("talk").id == session.id
    assert session.append(role="user", content="next") == 12


def test_the_originals_are_read_through_the_chain(worker: AgentWorker) -> None:
    session = talk(worker)
    for turn in range(3):
        assert session.compress(telling(f"summary {turn}"), keep_head=1, keep_tail=2)
        session.append_many({"role": "user", "content": f"n{turn}{n}"} for n in range(3))
    later = [f"n{turn}{n}" for turn in range(3) for n in range(3)]
    assert words(session.history()) == named(1, 20) + later
    assert words(session.messages()) == ["m1", "summary 2", "n11", "n12", "n20", "n21", "n22"]


def test_a_compressed_session_is_resumed_where_its_conversation_goes_on(
    house: Sexton, worker: AgentWorker
) -> None:
    session = talk(worker, key=None)
    first = session.id
    session.compress(telling(), keep_tail=2)
    assert house.worker().resume(first).id == session.id
    session.end("done")
    with pytest.raises(SessionEnded, match=session.id):
        house.worker().resume(first)


def test_the_next_summary_is_told_what_the_failed_ones_were_to_be_about(
    worker: AgentWorker,
) -> None:
    session, asked = talk(worker), []
    for _ in range(2):  # the middle of the second holds the place of the first
        session.compress(failing, on_failure="fallback", attempts=1, keep_head=1, keep_tail=2)
        session.append_many({"role": "user", "content": text} for text in ("x", "y", "z"))
    summary = session.compress(
        lambda messages: asked.extend(messages) or "at last",  # type: ignore[func-returns-value]
        keep_head=1,
        keep_tail=1,
    )
    assert words(iter(asked)) == [*named(2, 20), "x", "y", "z", "x", "y"]
    assert words(session.messages()) == ["m1", "at last", "z"]
    assert summary is not None
    assert (summary.extra["summary"]["from"], summary.extra["summary"]["through"]) == (2, 6)


def test_a_mark_that_names_a_stranger_brings_none_of_its_words(worker: AgentWorker) -> None:
    stranger, session, asked = talk(worker, key="other"), talk(worker, 4), []
    posing = {"of": stranger.id, "from": 1, "through": 9, "fallback": True}
    session.append(role="user", content="posing", summary=posing)
    session.append_many({"role": "user", "content": text} for text in ("x", "y"))
    session.compress(
        lambda messages: asked.extend(messages) or "short",  # type: ignore[func-returns-value]
        keep_head=1,
        keep_tail=1,
    )
    assert words(iter(asked)) == ["m2", "m3", "m4", "posing", "x"]


def test_a_summary_stands_for_what_it_tells(house: Sexton, worker: AgentWorker) -> None:
    session = talk(worker)
    session.compress(telling("in short"), keep_head=1, keep_tail=1)
    told = house.estate().homes["native"].transcript(house.find(session.id), 0, 99)
    assert words(told) == ["m1", "in short", "m20"]


def test_a_summary_may_be_a_message(worker: AgentWorker) -> None:
    session = talk(worker)
    given = {"role": "assistant", "content": [{"type": "text", "text": "short"}], "model": "x"}
    summary = session.compress(lambda _: given)
    assert summary is not None
    assert (summary.role, summary.content) == ("assistant", given["content"])
    assert (summary.extra["model"], summary.extra["summary"]["messages"]) == ("x", 10)


@pytest.mark.parametrize("messages", [0, 10, 11])
def test_where_nothing_is_gained_nobody_is_asked(worker: AgentWorker, messages: int) -> None:
    session = talk(worker, messages)
    before = session.id
    assert session.compress(failing) is None
    assert (session.id, words(session.messages())) == (before, named(1, messages))


def test_what_is_said_meanwhile_is_in_the_child_in_order_and_with_its_time(
    house: Sexton, worker: AgentWorker, manual_clock: ManualClock
) -> None:
    session, other = talk(worker), house.worker().session("talk")

    def summarise(messages: list[Message]) -> str:
        manual_clock.advance(1)
        session.append(role="user", content="mine")
        manual_clock.advance(1)
        other.append(role="user", content="theirs")
        manual_clock.advance(1)
        return "summary"

    began = manual_clock.now()
    session.compress(summarise, keep_tail=1)
    *_, tail, mine, theirs = session.messages()
    assert (tail.content, mine.content, theirs.content) == ("m20", "mine", "theirs")
    assert [each.at - began for each in (tail, mine, theirs)] == [
        timedelta(seconds=seconds) for seconds in (0, 1, 2)
    ]
    assert house.find(session.id).active_at == theirs.at


def test_another_holder_goes_on_in_the_child_whatever_it_does_first(house: Sexton) -> None:
    def held(key: str | None) -> tuple[OpenSession, OpenSession]:
        ours = talk(house.worker(), key=key)
        return ours, house.worker().resume(ours.id)

    ours, theirs = held(None)
    assert ours.compress(telling())
    assert theirs.append(role="user", content="next") == 12
    assert ours.id == theirs.id
    ours, theirs = held("turn")
    assert ours.compress(telling())
    with theirs.turn() as turn:
        turn.progress()
        [busy] = [each for each in house.find(ours.id).holders if each.busy_since]
        assert busy.progress_at == busy.busy_since
    assert all(each.busy_since is None for each in house.find(ours.id).holders)
    ours, theirs = held("end")
    assert ours.compress(telling())
    assert theirs.end("done")
    assert house.find(ours.id).end_reason == "done"
    assert not ours.end("late")
    ours, theirs = held("pin")
    assert ours.compress(telling())
    theirs.pin()
    assert house.find(ours.id).pinned
    ours, theirs = held("title")
    assert ours.compress(telling())
    theirs.retitle("New")
    assert house.find(ours.id).title == "New"
    ours, theirs = held("revive")
    assert ours.compress(telling())
    lost = house.find(ours.id)
    now = house.clock.now()
    assert house.ledger.book.end_now(lost, "reaped:by mistake", now)
    theirs.revive()
    assert theirs.append(role="user", content="next") == 12
    ours, theirs = held("reset")
    assert ours.compress(telling())
    assert theirs.reset().key == "reset"
    assert house.find(ours.id).end_reason == "reset"
    ours, theirs = held("again")
    assert ours.compress(telling())
    assert theirs.compress(telling("second"), keep_tail=2)
    assert words(theirs.messages()) == ["m1", "m2", "second", "m19", "m20"]


def test_two_who_compress_at_once_make_one_child(house: Sexton, worker: AgentWorker) -> None:
    session, other = talk(worker), house.worker().session("talk")
    parent = session.id

    def summarise(messages: list[Message]) -> str:
        assert other.compress(telling("first"))
        return "second"

    assert session.compress(summarise) is None
    assert session.id == other.id != parent
    assert words(session.messages())[2] == "first"


def test_a_running_turn_goes_on_in_the_child_and_ends_there(
    house: Sexton, worker: AgentWorker
) -> None:
    session, other = talk(worker), house.worker().session("talk")
    with other.turn(), session.turn() as turn:
        assert session.compress(telling())
        turn.progress()
        holders = house.find(session.id).holders
        assert [each.busy_since is None for each in holders] == [False, False]
        assert [each.progress_at is None for each in holders].count(False) == 1
        session.append(role="assistant", content="in the turn")
    now = house.find(session.id)
    assert [each.busy_since for each in now.holders] == [None, None]
    assert now.turn_count == 2


def test_a_summariser_that_never_returns_holds_up_nobody(
    house: Sexton, worker: AgentWorker
) -> None:
    session, over = talk(worker), threading.Event()
    before = house.find(session.id)

    def summarise(messages: list[Message]) -> str:
        over.wait(240)
        return "too late"

    try:
        with pytest.raises(SummaryFailed) as caught:
            session.compress(summarise, timeout=0.05)
        golden("sessions", "no summary: no answer in time", str(caught.value))
        assert house.find(session.id) == before
    finally:
        over.set()


@pytest.mark.parametrize("trouble", [SystemExit, KeyboardInterrupt, asyncio.CancelledError])
def test_a_summariser_that_breaks_off_is_not_waited_for(
    worker: AgentWorker, trouble: type[BaseException]
) -> None:
    def summarise(messages: list[Message]) -> str:
        raise trouble

    with pytest.raises(SummaryFailed) as caught:
        talk(worker).compress(summarise, attempts=1, timeout=600)
    assert type(caught.value.__cause__) is trouble


def test_blanks_are_no_summary(worker: AgentWorker) -> None:
    with pytest.raises(SummaryFailed, match="InvalidMessage"):
        talk(worker).compress(telling(" \n "), attempts=1)


def test_a_summary_is_asked_for_again_until_it_is_there(worker: AgentWorker) -> None:
    answers = iter([ConnectionError(), "", None, ["no"], {"role": "user"}, "at last"])

    def summarise(messages: list[Message]) -> Any:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    session = talk(worker)
    with pytest.raises(SummaryFailed, match="ConnectionError, InvalidMessage"):
        session.compress(summarise, attempts=2, timeout=timedelta(minutes=1))
    assert session.compress(summarise, attempts=4, timeout=60, force=True)
    assert words(session.messages())[2] == "at last"


def test_after_a_failure_nobody_is_asked_until_it_has_cooled_down_or_is_forced(
    house: Sexton, worker: AgentWorker, manual_clock: ManualClock
) -> None:
    session = talk(worker)
    before = house.find(session.id)
    with pytest.raises(SummaryFailed) as caught:
        session.compress(failing, attempts=1, cool_down=60)
    assert isinstance(caught.value.__cause__, ConnectionError)
    assert (house.find(session.id), words(session.messages())) == (before, named(1, 20))
    [line] = house.ledger.journal.page(before, None, None, 9)
    assert (line.action, line.result) == ("compress", "failed")
    assert line.reason.code == "summary_failed"
    assert session.id in line.reason.text
    assert "ConnectionError" in line.reason.text
    manual_clock.advance(59)
    again = house.worker().session("talk")  # it is the session that rests, not the process
    with pytest.raises(SummaryPostponed):
        again.compress(failing, attempts=1)
    with pytest.raises(SummaryFailed, match="ConnectionError"):
        again.compress(failing, attempts=1, cool_down=10, force=True)
    manual_clock.advance(10)
    assert session.compress(telling())


def test_without_a_summary_a_marked_fallback_says_where_the_originals_are(
    house: Sexton, worker: AgentWorker
) -> None:
    session = talk(worker)
    parent = session.id
    note = session.compress(failing, attempts=1, on_failure="fallback")
    assert note is not None
    assert note.extra["summary"]["fallback"] is True
    assert parent in note.content
    assert words(session.messages()) == ["m1", "m2", note.content, *named(13, 20)]
    assert words(session.history()) == named(1, 20)
    told = house.ledger.journal.page(house.find(session.id), None, None, 9)
    assert "ConnectionError" in told[0].reason.text
    assert SECRET not in str(house.ledger.journal.page(None, None, None, 99))


def test_a_session_that_rests_falls_back_at_once_where_that_is_allowed(worker: AgentWorker) -> None:
    session = talk(worker)
    with pytest.raises(SummaryFailed):
        session.compress(failing, attempts=1)
    note = session.compress(telling("not asked for"), on_failure="fallback")
    assert note is not None
    assert note.extra["summary"]["fallback"] is True


def test_a_session_that_ends_meanwhile_is_not_compressed(
    house: Sexton, worker: AgentWorker
) -> None:
    session, other = talk(worker), house.worker().session("talk")

    def summarise(messages: list[Message]) -> str:
        other.end("done")
        return "summary"

    with pytest.raises(SessionEnded):
        session.compress(summarise)
    assert house.ledger.book.current("talk") is None
    with pytest.raises(SessionEnded):
        session.compress(failing)


def test_a_session_that_is_taken_over_meanwhile_is_not_compressed_by_who_lost_it(
    house: Sexton, worker: AgentWorker
) -> None:
    session, heir = talk(worker), house.worker()

    def summarise(messages: list[Message]) -> str:
        current = house.ledger.book.current("talk")
        assert current is not None
        assert house.ledger.book.join(current, heir.id, (worker.id,), house.clock.now())
        return "summary"

    with pytest.raises(SessionFenced):
        session.compress(summarise)
    kept = heir.session("talk")
    assert kept.compress(telling())
    with pytest.raises(SessionFenced):
        session.append(role="user", content="from the grave")
    assert words(kept.history()) == named(1, 20)


def test_compressing_rearms_no_limit_but_those_of_size(
    house: Sexton, worker: AgentWorker, manual_clock: ManualClock
) -> None:
    session = talk(worker)
    for _ in range(4):
        with session.turn():
            pass
    started = house.find(session.id).started_at
    manual_clock.advance(timedelta(minutes=50))
    assert session.compress(telling())
    now = house.find(session.id)
    assert (now.started_at, now.turn_count, now.message_count) == (started, 4, 11)
    manual_clock.advance(timedelta(minutes=10))
    assert [outcome.action.reason.code for outcome in house.sweep().outcomes] == ["idle"]
    assert house.find(session.id).end_reason == "idle"


@pytest.mark.parametrize(
    "terms",
    [{"keep_head": -1}, {"keep_tail": -1}, {"attempts": 0}, {"timeout": 0}, {"cool_down": -1},
     {"attempts": 2.5}, {"cool_down": float("inf")}, {"timeout": float("nan")},
     {"on_failure": "panic"}],
)  # fmt: skip
def test_terms_that_can_only_be_a_mistake_are_refused(
    worker: AgentWorker, terms: dict[str, Any]
) -> None:
    with pytest.raises(InputInvalid):
        talk(worker).compress(telling(), **terms)


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        ("uauauaua", (2, 6)),
        ("sattuaua", (4, 6)),
        ("suauattu", (2, 4)),
        ("suattttu", None),
        ("suauatta", (2, 4)),
        ("sttttttt", None),
    ],
)
def test_what_a_tool_answered_stays_with_its_call(
    roles: str, expected: tuple[int, int] | None
) -> None:
    names = {"s": "system", "u": "user", "a": "assistant", "t": "tool"}
    assert span([names[each] for each in roles], 2, 2) == expected


def test_threads_that_share_a_session_lose_nothing_while_it_is_compressed(
    house: Sexton, worker: AgentWorker
) -> None:
    session, other = talk(worker), house.worker().session("talk")

    def say(writer: OpenSession, name: str) -> list[str]:
        for number in range(40):
            with writer.turn():
                writer.append(role="user", content=f"{name} {number}")
        return [f"{name} {number}" for number in range(40)]

    def shorten(_: OpenSession, __: str) -> list[str]:
        for _turn in range(8):
            session.compress(telling(), keep_tail=3)
        return []

    with ThreadPoolExecutor(6) as pool:
        jobs = [pool.submit(say, writer, f"{n}") for n, writer in enumerate([session, other] * 2)]
        jobs.append(pool.submit(shorten, session, ""))
        said = [job.result(240) for job in jobs]
    session.compress(telling(), keep_tail=3)
    history = words(session.history())
    assert sorted(history) == sorted(named(1, 20) + [each for one in said for each in one])
    for mine in said:
        assert [each for each in history if each in set(mine)] == mine
    now = house.find(session.id)
    assert now.message_count == len(list(session.messages()))
    assert all(holder.busy_since is None for holder in now.holders)


def test_what_was_stored_before_a_compression_is_not_missed_after_it(
    house: Sexton, worker: AgentWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread hears that its message is stored when another has gone on to the next session."""
    session = talk(worker)
    stored = house.ledger.messages.append

    def and_then_another_compresses(batch: Batch, now: datetime) -> Appended | None:
        appended = stored(batch, now)
        monkeypatch.undo()
        assert session.compress(telling(), keep_tail=3)
        return appended

    monkeypatch.setattr(house.ledger.messages, "append", and_then_another_compresses)
    session.append(role="user", content="just before")
    assert "just before" in words(session.messages())
    session.append(role="user", content="just after")
    assert words(session.messages())[-1] == "just after"


def compress_for_ever(report: Report, url: str, tag: str) -> None:
    """Two threads talk and one compresses, until killed; every acknowledgement is told."""
    with wiring.open(url) as opened, opened.worker() as worker:
        session = worker.session("talk")

        def talk_on(name: str) -> None:
            for number in count():
                session.append(role="user", content=f"{name}:{number}")
                report.tell("done", f"{name}:{number}")

        for number in range(2):
            name = f"{tag}.{number}"
            threading.Thread(target=talk_on, args=(name,), daemon=True).start()
        while True:
            if session.compress(telling(), keep_tail=3):
                report.tell("compressed", session.id)


def _has_done(lines: Sequence[str], compressions: int) -> bool:
    """Whether a child has told of so many compressions, and of messages at all."""
    told = Counter(line.split()[0] for line in lines)
    return told["compressed"] >= compressions and told["done"] >= 2


def kill_compressors(nursery: Nursery, url: str, kills: int, seed: int) -> tuple[int, int]:
    """Kill that many compressing processes; how much they were told is there, and in how many."""
    chance, acknowledged = random.Random(seed), set[str]()
    for turn in range(kills):
        target = f"{__name__}:compress_for_ever"
        child = nursery.start(target, url, f"c{turn}")
        wanted = chance.randrange(1, 4)
        child.wait_for(lambda lines, n=wanted: _has_done(lines, n))  # type: ignore[misc]
        threading.Event().wait(chance.uniform(0, 0.01))
        assert child.is_alive
        child.kill()
        told = [line.split() for line in child.lines()]
        acknowledged |= {line[1] for line in told if line[0] == "done"}
    with wiring.open(url) as opened, opened.worker() as worker:
        session = worker.session("talk")
        history = words(session.history())
        chain = opened.ledger.compression.chain(opened.find(session.id).ref)
        assert opened.find(session.id).message_count == len(list(session.messages()))
    assert len(history) == len(set(history))
    assert acknowledged <= set(history)
    for name in {each.partition(":")[0] for each in history}:
        said = [each for each in history if each.startswith(f"{name}:")]
        assert said == [f"{name}:{number}" for number in range(len(said))]
    return len(acknowledged), len(chain)


@pytest.mark.slow
def test_no_acknowledged_message_is_lost_when_compressing_processes_are_killed(
    engine_url: str,
) -> None:
    with Nursery(__name__) as nursery:
        acknowledged, sessions = kill_compressors(nursery, engine_url, KILLS, 1)
    assert acknowledged > KILLS
    assert sessions > KILLS
