"""A ledger that is set back under those who watch it or carry out a plan, on both engines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta

import pytest

from sexton.core.plan import EndSession, Plan, Reason, Result
from sexton.keeper.apply import apply, new_receipt
from sexton.keeper.preconditions import as_seen
from sexton.store.journal import Entry
from sexton.testing import ManualClock
from sexton.web.answers.activity import Activity
from sexton.web.events import News
from sexton.web.lookout import Lookout
from sexton.wiring import Sexton
from tests.scenario.rewinding import Rewind, once_reached, opened_at, reached

ASKED = Reason("asked", "in a test")


@pytest.fixture
def house(rewind: Rewind, manual_clock: ManualClock) -> Iterator[Sexton]:
    with closing(opened_at(rewind, manual_clock)) as house:
        yield house


@pytest.fixture
def news(house: Sexton) -> News:
    return News(house, Activity(house, Lookout(house)))


@pytest.mark.parametrize("since", [0, 1, 3, 8])
def test_events_begin_anew_after_the_journal_was_set_back(
    rewind: Rewind, house: Sexton, manual_clock: ManualClock, news: News, since: int
) -> None:
    _happens(house, manual_clock, "kept", 2)
    rewind.back_up()
    reached(house)
    place = news.place()
    _happens(house, manual_clock, "lost", 3)
    assert _told(news, place) == ["lost"] * 3
    rewind.restore()
    reached(house)
    place += 3
    manual_clock.advance(2)
    _happens(house, manual_clock, "since", since)
    [begun] = news.since(place)
    assert begun.entry is None, "whoever listens looks at everything anew"
    assert begun.ref == house.ledger.board.newest_entry()
    _happens(house, manual_clock, "next", 2)
    assert _told(news, begun.place) == ["next"] * 2


def test_a_listener_that_comes_again_with_a_number_that_was_lost_begins_anew(
    rewind: Rewind, house: Sexton, manual_clock: ManualClock, news: News
) -> None:
    _happens(house, manual_clock, "kept", 2)
    rewind.back_up()
    reached(house)
    _happens(house, manual_clock, "lost", 2)
    last = house.ledger.board.newest_entry()
    assert news.missed(last) == []
    rewind.restore()
    reached(house)
    [missed] = news.missed(last)
    assert (missed.ref, missed.entry) == (house.ledger.board.newest_entry(), None)
    assert missed.ref < last


def test_a_plan_does_nothing_to_what_others_began_since_the_ledger_was_set_back(
    rewind: Rewind, house: Sexton, manual_clock: ManualClock
) -> None:
    with once_reached(house.worker) as worker:
        kept = worker.session("kept", source="telegram")
    rewind.back_up()
    reached(house)
    with house.worker() as worker:
        lost = worker.session("lost", source="telegram")
    seen = [as_seen(*house.ledger.index.find("native", id)) for id in (kept.id, lost.id)]
    actions = tuple(EndSession(seen=each, reason=ASKED) for each in seen)
    plan = Plan(
        id="made before", ledger=house.ledger.id, policies="", made_at=manual_clock.now(),
        actions=actions,
    )  # fmt: skip
    outcomes = apply(house.estate(), plan, new_receipt(), just_made=True)
    first = next(outcomes)
    rewind.restore()
    reached(house)
    with house.worker() as worker:
        theirs = worker.session("theirs", source="telegram")
    [second] = outcomes
    assert [first.result, second.result] == [Result.DONE, Result.SKIPPED]
    assert second.detail
    for id in (kept.id, theirs.id):
        [found] = house.ledger.index.find("native", id)
        assert found.is_open


def _happens(house: Sexton, clock: ManualClock, what: str, times: int) -> None:
    """Write to the journal, and let time pass, so that whoever watches looks again."""
    for _ in range(times):
        clock.advance(timedelta(seconds=2))
        said = Entry(
            actor="test", receipt=None, home="native", session=what, action="end", result="done",
            reason=ASKED,
        )  # fmt: skip
        house.ledger.journal.write([said], clock.now())


def _told(news: News, place: int) -> list[str | None]:
    return [each.entry.session if each.entry else None for each in news.since(place)]
