"""A process of another program holds sessions of its own home through the ledger."""

from __future__ import annotations

from collections import deque
from datetime import timedelta
from pathlib import Path

import pytest

from sexton.agent.visiting import Visitor
from sexton.bootstrap import Sexton
from sexton.bootstrap.visiting import visit
from sexton.errors import BreakerOpen
from sexton.ledger.opening import open_ledger
from sexton.model.record import replace
from sexton.model.session import Session, State
from sexton.settings.values import HomeSetting, Settings
from sexton.testing.clock import ManualClock


def told(clock: ManualClock, **facts: object) -> Session:
    now = clock.now()
    return replace(
        Session(ref=0, home="", id="a", key=None, source="cli", started_at=now, active_at=now),
        **facts,
    )


@pytest.fixture
def house(engine_url: str, manual_clock: ManualClock, tmp_path: Path) -> Sexton:
    homes = (HomeSetting(path=tmp_path, name="work", act=True),)
    return Sexton(open_ledger(engine_url), Settings(homes=homes), clock=manual_clock)


def visitor(house: Sexton, path: Path) -> Visitor:
    return visit(house, path, "hermes")


def test_a_turn_marks_the_holder_busy_and_leaves_the_counts_to_the_home(
    house: Sexton, manual_clock: ManualClock, tmp_path: Path
) -> None:
    with house, visitor(house, tmp_path) as here:
        guest = here.hold(told(manual_clock, message_count=4, turn_count=2))
        with guest.turn() as turn:
            [holder] = house.find("work/a").holders
            assert (holder.worker.id, holder.busy_since) == (here.id, manual_clock.now())
            manual_clock.advance(timedelta(seconds=5))
            turn.progress()
        [holder] = house.find("work/a").holders
        assert holder.busy_since is None
        seen = house.find("work/a")
        assert (seen.message_count, seen.turn_count) == (4, 2)


def test_leaving_ends_nothing_for_that_is_the_home_s_to_do(
    house: Sexton, manual_clock: ManualClock, tmp_path: Path
) -> None:
    with house:
        here = visitor(house, tmp_path)
        here.hold(told(manual_clock))
        here.leave()
        found = house.find("work/a")
        assert (found.state, found.holders) == (State.OPEN, ())


def test_an_end_is_told_with_its_counts_and_what_is_open_stays_as_it_was_seen(
    house: Sexton, manual_clock: ManualClock, tmp_path: Path
) -> None:
    with house, visitor(house, tmp_path) as here:
        here.hold(told(manual_clock, message_count=1))
        here.tell(told(manual_clock, message_count=9))
        assert house.find("work/a").message_count == 1
        manual_clock.advance(timedelta(minutes=1))
        at = manual_clock.now()
        end = {"state": State.ENDED, "ended_at": at, "end_reason": "cli_close"}
        here.tell(told(manual_clock, message_count=9, **end))
        found = house.find("work/a")
        assert (found.message_count, found.end_reason, found.ended_at) == (9, "cli_close", at)
        again = here.hold(told(manual_clock))
        assert house.find("work/a").is_open, "it was resumed"
        assert again.others() == []


def test_a_home_that_is_known_stays_as_it_is(
    house: Sexton, manual_clock: ManualClock, tmp_path: Path
) -> None:
    with house, visitor(house, tmp_path) as here, visitor(house, tmp_path) as there:
        assert (here.home.name, here.home.act, there.home.ref) == ("work", True, here.home.ref)
        mine, theirs = here.hold(told(manual_clock)), there.hold(told(manual_clock))
        assert (mine.others(), theirs.others()) == ([there.id], [here.id])


def test_the_breaker_remembers_from_one_turn_to_the_next(
    house: Sexton, manual_clock: ManualClock, tmp_path: Path
) -> None:
    with house, visitor(house, tmp_path) as here:

        def fail(number: int) -> None:
            with here.hold(told(manual_clock)).turn() as turn, turn.tool("t", number) as call:
                call.error(f"error {number}")

        with pytest.raises(BreakerOpen):
            deque(map(fail, range(100)), maxlen=0)
        with pytest.raises(BreakerOpen):
            fail(100)
