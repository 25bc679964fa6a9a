"""A ledger that is set back to an earlier state under living agents, on both engines.

So does a restore from a backup, and a failover to a standby that lacks the last commits. Others
open new sessions in it before the agents notice.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from sexton.core.session import Session
from sexton.errors import SessionFenced, SessionNotFound, SessionRewound
from sexton.sessions.agent_session import OpenSession
from sexton.sessions.agent_worker import AgentWorker
from sexton.sessions.model import Filter
from sexton.testing import START, ManualClock
from sexton.wiring import Sexton
from sexton.wiring.visitor import visit
from tests.scenario.rewinding import Rewind, once_reached, opened_at, reached

RANDOM_BITS = 28

ACTS: dict[str, Callable[[OpenSession], object]] = {
    "append": lambda held: held.append(role="user", content="meant for another"),
    "append_many": lambda held: held.append_many([{"role": "user", "content": "as well"}]),
    "compress": lambda held: held.compress(lambda _: "shorter"),
    "directory": lambda held: held.directory,
    "end": lambda held: held.end(),
    "history": lambda held: list(held.history()),
    "messages": lambda held: list(held.messages()),
    "pin": lambda held: held.pin(),
    "processes": lambda held: held.processes(),
    "reset": lambda held: held.reset(force=True),
    "retitle": lambda held: held.retitle("of another"),
    "revive": lambda held: held.revive(),
    "spawn": lambda held: held.spawn(["true"]),
    "turn": lambda held: held.turn().__enter__(),
}


@pytest.fixture
def house(rewind: Rewind, manual_clock: ManualClock) -> Iterator[Sexton]:
    with closing(opened_at(rewind, manual_clock)) as house:
        yield house


@pytest.fixture
def other_house(rewind: Rewind, house: Sexton, manual_clock: ManualClock) -> Iterator[Sexton]:
    with closing(opened_at(rewind, manual_clock)) as other_house:
        yield other_house


def test_no_old_handle_reaches_a_session_that_others_began_after_a_restore(
    rewind: Rewind, house: Sexton, other_house: Sexton
) -> None:
    rewind.back_up()
    held = {name: _began(house, name, "said after the backup") for name in ACTS}
    rewind.restore()
    stranger = once_reached(other_house.worker)
    strangers = [_said(_opened_by(stranger, f"stranger {name}"), "private") for name in ACTS]
    reached(house)
    assert _places(held.values()) == _places(strangers), "they would have had the same numbers"
    for name, act in ACTS.items():
        with pytest.raises(SessionRewound):
            once_reached(partial(act, held[name]))
    for theirs in strangers:
        [found] = other_house.ledger.index.find("native", theirs.id)
        facts = (found.is_open, found.pinned, found.title, found.turn_count, found.message_count)
        assert facts == (True, False, None, 0, 1)
        assert [message.content for message in theirs.messages()] == ["private"]
    assert len(other_house.ledger.index.page(Filter(), None, 100)) == len(ACTS)


def test_after_a_restore_an_agent_opens_its_keys_again(rewind: Rewind, house: Sexton) -> None:
    rewind.back_up()
    worker = once_reached(house.worker)
    held = _said(_opened_by(worker, "talk"), "lost")
    rewind.restore()
    reached(house)
    with pytest.raises(SessionRewound):
        _said(held, "again")
    again = _said(_opened_by(worker, "talk"), "anew")
    assert again.id != held.id
    assert [message.content for message in again.messages()] == ["anew"]
    with pytest.raises(SessionRewound):
        _said(held, "again")


def test_a_worker_the_restored_ledger_does_not_know_opens_a_key_at_once(
    rewind: Rewind, house: Sexton
) -> None:
    rewind.back_up()
    worker = once_reached(house.worker)
    held, former = _opened_by(worker, "talk"), worker.id
    rewind.restore()
    reached(house)
    opened = [_said(_opened_by(worker, key), "hello") for key in ("other", None)]
    assert [opened[0].epoch, opened[1].epoch] == [1, 1]
    assert worker.id != former
    with pytest.raises(SessionRewound):
        _said(held, "hello")


def test_messages_that_a_restore_took_away_are_not_written_over(
    rewind: Rewind, house: Sexton
) -> None:
    worker = house.worker()
    held = _said(_opened_by(worker, "talk"), "kept", "kept too")
    rewind.back_up()
    reached(house)
    _said(held, "acknowledged")
    rewind.restore()
    reached(house)
    with pytest.raises(SessionRewound):
        _said(held, "the next one")
    again = _said(_opened_by(worker, "talk"), "the next one")
    assert again.id == held.id
    assert [message.content for message in again.messages()] == ["kept", "kept too", "the next one"]


def test_an_agent_that_did_nothing_since_notices_a_restore_by_its_heartbeat(
    rewind: Rewind, house: Sexton
) -> None:
    worker = house.worker()
    held = _said(_opened_by(worker, "talk"), "kept")
    rewind.back_up()
    reached(house)
    membership = worker._desk.membership
    assert once_reached(membership.renew)
    rewind.restore()
    reached(house)
    once_reached(membership.renew)
    assert membership.timeline == 1
    with pytest.raises(SessionRewound) as refused:
        list(held.messages())
    assert isinstance(refused.value, SessionFenced)
    assert (held.id, held.key) == (_opened_by(worker, "talk").id, "talk")
    assert once_reached(membership.renew)


SINCE_THE_LAST_BEAT: dict[str, Callable[[OpenSession, AgentWorker], object]] = {
    "append": lambda held, _: held.append(role="user", content="the next one"),
    "compress": lambda held, _: held.compress(lambda _: "shorter"),
    "history": lambda held, _: list(held.history()),
    "messages": lambda held, _: list(held.messages()),
    "messages behind the last": lambda held, _: list(held.messages(after=held._place[1].count)),
    "turn": lambda held, _: held.turn().__enter__(),
    "its key": lambda held, worker: _refused_after(held, lambda: worker.session("talk")),
    "its id": lambda held, worker: _refused_after(held, lambda: worker.resume(held.id)),
    "heartbeat": lambda held, worker: _refused_after(held, worker.membership.tend),
}


@pytest.mark.parametrize("way", SINCE_THE_LAST_BEAT)
def test_messages_lost_since_the_last_heartbeat_are_noticed_by_every_handle(
    rewind: Rewind, house: Sexton, way: str
) -> None:
    worker = house.worker()
    held = _said(_opened_by(worker, "talk"), *map(str, range(20)))
    other = _said(_opened_by(worker, "other"), "kept")
    same, turn = _opened_by(worker, "talk"), other.turn()
    turn.__enter__()
    rewind.back_up()
    reached(house)
    _said(same, "acknowledged")  # by another handle of the session
    rewind.restore()
    reached(house)
    with pytest.raises(SessionRewound):
        once_reached(partial(SINCE_THE_LAST_BEAT[way], held, worker))
    assert worker.membership.timeline == 1
    for each in (held, same, other):
        with pytest.raises(SessionRewound):
            list(each.messages())
    with pytest.raises(SessionRewound):
        turn.reserve(input_tokens=1)
    _goes_on(worker, "talk", "other")


@pytest.mark.parametrize("way", ["its key", "its id", "heartbeat"])
def test_a_session_lost_since_the_last_heartbeat_is_noticed_by_every_handle(
    rewind: Rewind, house: Sexton, way: str
) -> None:
    worker = house.worker()
    other = _said(_opened_by(worker, "other"), "kept")
    rewind.back_up()
    reached(house)
    lost = _opened_by(worker, "talk")
    rewind.restore()
    reached(house)
    with pytest.raises(SessionRewound if way != "its id" else SessionNotFound):
        once_reached(partial(SINCE_THE_LAST_BEAT[way], lost, worker))
    assert worker.membership.timeline == 1
    for each in (lost, other):
        with pytest.raises(SessionRewound):
            list(each.messages())
    _goes_on(worker, "talk", "other")


def test_a_conversation_that_others_compressed_without_lost_messages_is_not_followed(
    rewind: Rewind, house: Sexton, other_house: Sexton
) -> None:
    worker = house.worker()
    held = _said(_opened_by(worker, "talk"), *map(str, range(20)))
    rewind.back_up()
    reached(house)
    _said(held, "acknowledged")
    rewind.restore()
    stranger: AgentWorker = once_reached(other_house.worker)
    theirs = _opened_by(stranger, "talk")
    assert theirs.compress(lambda _: "shorter") is not None
    reached(house)
    with pytest.raises(SessionRewound):
        _said(held, "the next one")
    assert worker.membership.timeline == 1
    assert _opened_by(worker, "talk").id == theirs.id


def test_a_turn_that_was_asked_for_before_a_restore_does_not_begin(
    rewind: Rewind, house: Sexton
) -> None:
    worker = house.worker()
    held, other = [_said(_opened_by(worker, key), "kept") for key in ("talk", "other")]
    turn = other.turn()
    rewind.back_up()
    reached(house)
    _said(held, "acknowledged")
    rewind.restore()
    reached(house)
    once_reached(worker.membership.tend)
    with pytest.raises(SessionRewound):
        turn.__enter__()
    [found] = house.ledger.index.find("native", other.id)
    assert found.turn_count == 0


def test_a_turn_does_not_begin_where_others_compressed_without_lost_messages(
    rewind: Rewind, house: Sexton, other_house: Sexton
) -> None:
    held = _said(_opened_by(house.worker(), "talk"), *map(str, range(20)))
    turn = held.turn()
    rewind.back_up()
    reached(house)
    _said(held, "acknowledged")
    rewind.restore()
    theirs = _opened_by(once_reached(other_house.worker), "talk")
    assert theirs.compress(lambda _: "shorter") is not None
    reached(house)
    with pytest.raises(SessionRewound):
        turn.__enter__()
    [found] = house.ledger.index.find("native", theirs.id)
    assert found.turn_count == 0


def test_messages_of_others_that_were_read_and_lost_are_not_written_over(
    rewind: Rewind, house: Sexton, other_house: Sexton
) -> None:
    held = _said(_opened_by(house.worker(), "talk"), "kept")
    theirs = _opened_by(other_house.worker(), "talk")
    rewind.back_up()
    reached(house)
    reached(other_house)
    _said(theirs, "theirs")
    assert len(list(held.messages())) == 2
    rewind.restore()
    reached(house)
    with pytest.raises(SessionRewound):
        _said(held, "the answer")


def test_a_worker_that_was_taken_for_dead_does_not_forget_what_it_saw_stored(
    rewind: Rewind, house: Sexton, other_house: Sexton
) -> None:
    worker = house.worker()
    held = _said(_opened_by(worker, "talk"), "kept")
    theirs = _opened_by(other_house.worker(), "talk")
    [dead] = [each for each in house.ledger.reaping.suspects() if each.id == worker.id]
    house.ledger.reaping.declare([(dead, "lease_expired: in a test")], START)
    rewind.back_up()
    reached(house)
    _said(held, "acknowledged")
    rewind.restore()
    reached(house)
    assert once_reached(worker.membership.renew) is False  # it holds the session as a new worker
    assert (held.id, worker.membership.timeline) == (theirs.id, 0)
    with pytest.raises(SessionRewound):
        _said(held, "the next one")


def test_a_summary_is_not_put_in_place_of_a_conversation_that_lost_messages_meanwhile(
    rewind: Rewind, house: Sexton
) -> None:
    held = _said(_opened_by(house.worker(), "talk"), *map(str, range(20)))
    rewind.back_up()
    reached(house)
    _said(held, "acknowledged")

    def summarise(_: object) -> str:
        rewind.restore()
        return "shorter"

    with pytest.raises(SessionRewound):
        once_reached(partial(held.compress, summarise, attempts=1))
    reached(house)
    [found] = house.ledger.index.find("native", held.id)
    assert (found.is_open, found.message_count) == (True, 20)


def test_what_was_compared_before_a_heartbeat_is_not_compared_again(
    rewind: Rewind, house: Sexton
) -> None:
    worker = house.worker()
    held = _said(_opened_by(worker, "talk"), "kept")
    marks = worker.membership.watermarks
    assert set(marks.risen(0).values()) == {1}
    worker.membership.tend()
    assert marks.risen(0) == {}
    _said(held, "kept too")
    assert set(marks.risen(0).values()) == {2}
    del held
    gc.collect()
    assert (marks.risen(0), marks.of_key("talk")) == ({}, None)


def test_a_worker_that_a_ledger_set_back_still_knows_stays_who_it_is(
    rewind: Rewind, house: Sexton
) -> None:
    worker = house.worker()
    held = _said(_opened_by(worker, "talk"), "kept")
    former = worker.id
    rewind.back_up()
    reached(house)
    assert once_reached(worker.membership.renew)
    rewind.restore()
    reached(house)
    once_reached(worker.membership.renew)
    assert (worker.id, worker.membership.timeline) == (former, 1)
    again = _opened_by(worker, "talk")
    [found] = house.ledger.index.find("native", held.id)
    assert (again.id, [holder.worker.id for holder in found.holders]) == (held.id, [former])


def test_a_turn_that_runs_during_a_restore_is_granted_nothing_afterwards(
    rewind: Rewind, house: Sexton
) -> None:
    rewind.back_up()
    held = _began(house, "talk", "lost")
    with held.turn() as turn:
        rewind.restore()
        reached(house)
        with pytest.raises(SessionRewound):
            once_reached(partial(turn.reserve, input_tokens=1))
        with pytest.raises(SessionRewound):
            _said(held, "the answer")


def test_a_worker_the_restored_ledger_does_not_know_begins_no_turn(
    rewind: Rewind, house: Sexton
) -> None:
    first = _began(house, "talk", "kept")
    rewind.back_up()
    joined = _began(house, "talk")
    rewind.restore()
    reached(house)
    with pytest.raises(SessionRewound):
        once_reached(lambda: joined.turn().__enter__())
    [found] = house.ledger.index.find("native", first.id)
    assert (found.turn_count, len(found.holders)) == (0, 1)


def test_facts_of_a_home_do_not_reach_another_that_has_its_number_after_a_restore(
    rewind: Rewind, house: Sexton, other_house: Sexton, tmp_path: Path
) -> None:
    rewind.back_up()
    visitor = once_reached(lambda: visit(house, tmp_path / "lab", "hermes"))
    once_reached(partial(visitor.tell, _guest("one")))
    rewind.restore()
    reached(house)
    reached(other_house)
    den = other_house.ledger.homes.attach("den", "hermes", "/den", "host", False)
    assert den.ref == visitor.home.ref  # or the restore gave no number out again
    visitor.tell(_guest("two"))
    assert visitor.home.ref != den.ref
    assert house.ledger.homes.ids(den, open_only=False) == []
    assert house.ledger.homes.ids(visitor.home, open_only=False) == ["two"]


def test_what_is_not_set_back_is_not_taken_for_it(rewind: Rewind, house: Sexton) -> None:
    worker = house.worker()
    held = _said(_opened_by(worker, "talk"), "hello")
    rewind.back_up()
    reached(house)
    membership = worker._desk.membership
    assert not once_reached(membership.notices_rewind)
    assert once_reached(membership.renew)
    assert not once_reached(membership.notices_rewind)
    once_reached(held.end)
    assert once_reached(held.end) is False
    assert membership.timeline == 0


def _refused_after(held: OpenSession, act: Callable[[], object]) -> None:
    """What comes to the handle after something that itself succeeds."""
    once_reached(act)
    assert held._desk.membership.timeline == 1
    list(held.messages())


def _goes_on(worker: AgentWorker, *keys: str) -> None:
    """Handles that are opened now are trusted for good."""
    held = [_opened_by(worker, key) for key in keys]
    timeline = worker.membership.timeline
    once_reached(worker.membership.tend)
    for each in held:
        _said(each, "the next one")
        list(each.messages())
    once_reached(worker.membership.tend)
    assert worker.membership.timeline == timeline


def _guest(id: str) -> Session:
    """A session as the program tells of it whose home it is."""
    return Session(ref=0, home="", id=id, key=None, source="cli", started_at=START, active_at=START)


def _began(house: Sexton, key: str, *said: str) -> OpenSession:
    """A session of a worker of its own: what one worker notices, no other knows."""
    worker: AgentWorker = once_reached(house.worker)
    return _said(_opened_by(worker, key), *said)


def _opened_by(worker: AgentWorker, key: str | None) -> OpenSession:
    return once_reached(lambda: worker.session(key))


def _said(held: OpenSession, *contents: str) -> OpenSession:
    for content in contents:
        once_reached(partial(held.append, role="user", content=content))
    return held


def _places(held: Iterable[OpenSession]) -> list[int]:
    return sorted(each._held.ref >> RANDOM_BITS for each in held)
