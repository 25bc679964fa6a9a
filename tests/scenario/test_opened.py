"""A conversation never becomes empty without its owner hearing of it, on both engines."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from sexton import Opened, Previous
from sexton.resets.policy import Mode, ResetPolicy
from sexton.rules.rulebook import Rulebook
from sexton.settings.settings_values import Settings
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton

MESSAGE = {"role": "user", "content": "x"}


def opened(url: str, clock: ManualClock, policy: ResetPolicy | None = None) -> Sexton:
    rules = Rulebook(reset=policy or ResetPolicy())
    house = Sexton(open_ledger(url), Settings(rulebook=rules), clock=clock)
    house.publish()
    return house


@pytest.fixture
def house(engine_url: str, manual_clock: ManualClock) -> Iterator[Sexton]:
    with opened(engine_url, manual_clock) as house:
        yield house


def test_a_large_session_goes_on_and_its_owner_is_warned_once(house: Sexton) -> None:
    with house.worker() as worker:
        session = worker.session("chat")
        session.append_many([MESSAGE] * 1500)
        codes = [outcome.action.reason.code for outcome in house.sweep().outcomes]
        assert codes == ["large_messages"]
        session.append_many([MESSAGE] * 1500)
        assert house.sweep().outcomes == ()
        again = worker.session("chat")
        assert (again.id, again.opened) == (session.id, Opened.JOINED)
        assert len(list(again.messages())) == 3000
        questions = [answer.question for answer in house.why(session.id).answers]
        assert any("large_messages" in question for question in questions)


def test_a_limit_that_is_set_acts_and_the_next_opening_says_so(
    engine_url: str, manual_clock: ManualClock
) -> None:
    with (
        opened(engine_url, manual_clock, ResetPolicy(max_messages=10)) as house,
        house.worker() as worker,
    ):
        first = worker.session("chat")
        assert (first.opened, first.previous) == (Opened.NEW, None)
        first.append_many([MESSAGE] * 10)
        second = worker.session("chat")
        assert second.opened is Opened.RESET
        assert second.previous == Previous(
            id=first.id, end_reason="max_messages", ended_at=manual_clock.now()
        )


def test_what_a_keeper_ended_is_named_by_the_next_opening(
    engine_url: str, manual_clock: ManualClock
) -> None:
    policy = ResetPolicy(mode=Mode.IDLE, idle_minutes=60)
    with opened(engine_url, manual_clock, policy) as house, house.worker() as worker:
        first = worker.session("chat")
        manual_clock.advance(3600)
        ended_at = manual_clock.now()
        assert len(house.sweep().outcomes) == 1
        manual_clock.advance(5)
        second = worker.session("chat")
        assert second.opened is Opened.RESET
        assert second.previous == Previous(id=first.id, end_reason="idle", ended_at=ended_at)


def test_who_joins_or_adopts_hears_that_and_so_does_who_resets(house: Sexton) -> None:
    first, second = house.worker(), house.worker()
    session = first.session("chat")
    joined = second.session("chat")
    assert (joined.opened, joined.previous) == (Opened.JOINED, None)
    first.leave()
    second.leave()
    with house.worker() as third:
        adopted = third.session("chat")
        assert (adopted.id, adopted.opened) == (session.id, Opened.ADOPTED)
        fresh = adopted.reset()
        assert fresh.opened is Opened.RESET
        assert fresh.previous is not None
        assert (fresh.previous.id, fresh.previous.end_reason) == (session.id, "reset")
        assert third.resume(fresh.id).opened is Opened.JOINED
        assert third.session().opened is Opened.NEW


def test_the_one_before_is_named_from_the_archive_too(house: Sexton) -> None:
    with house.worker() as worker:
        for number in range(3):
            session = worker.session("chat")
            session.append(role="user", content=f"{number}")
            session.end()
        before = house.ledger.index.find("native", session.id)[0]
        clock = house.clock
        assert isinstance(clock, ManualClock)
        clock.advance(timedelta(days=30).total_seconds())
        house.apply(house.plan("native", gc=True))
        assert house.ledger.index.find("native", session.id)[0].state != before.state
        after = worker.session("chat")
        assert after.opened is Opened.RESET
        assert after.previous is not None
        assert (after.previous.id, after.previous.end_reason) == (session.id, "closed")
