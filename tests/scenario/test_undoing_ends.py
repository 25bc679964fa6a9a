"""What an apply ended in the ledger is open again by its receipt, as if it had just been used."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from sexton.core.plan import Result
from sexton.errors import NothingToUndo, SessionFenced
from sexton.keeper.reopening import may_revive
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from sexton.wiring.removal_wiring import undo_receipt
from tests.golden import golden
from tests.scenario.finalizers_scene import configure, open_house, owed, webhook
from tests.surface.holding import holder

NOWHERE = "http://127.0.0.1:9/"
RULES = {"mode": "idle", "idle_minutes": 60, "max_messages": 6}


@pytest.fixture
def house(engine_url: str, tmp_path: Path, manual_clock: ManualClock) -> Iterator[Sexton]:
    """A house whose idle sessions end and owe work."""
    config = configure(tmp_path, webhook(NOWHERE), reset=RULES)
    with open_house(engine_url, config, manual_clock) as opened:
        yield opened


def spoken(house: Sexton, key: str, count: int = 2) -> str:
    """The id of a session that nobody holds any more."""
    with house.worker() as worker:
        session = worker.session(key, source="telegram")
        session.append_many([{"role": "user", "content": "x"}] * count)
        return session.id


def end_idle(house: Sexton, clock: ManualClock, receipt: str) -> int:
    """Carry out what is due two hours later; how much was done."""
    clock.advance(timedelta(hours=2))
    done = house.apply(house.plan(), receipt)
    return sum(each.result is Result.DONE for each in done)


def test_what_a_rule_ended_is_open_again_and_its_idle_time_begins_anew(
    house: Sexton, manual_clock: ManualClock
) -> None:
    ids = [spoken(house, key) for key in ("a", "b")]
    assert end_idle(house, manual_clock, "swept") == 2
    assert len(owed(house)) == 2
    before = house.find(ids[0])
    undone = undo_receipt(house, "swept")
    assert (undone.opened.sessions, undone.opened.begun, undone.opened.remarks) == (2, 0, ())
    after = house.find(ids[0])
    assert (after.epoch, after.message_count) == (before.epoch + 1, before.message_count)
    assert owed(house) == [], "nobody had begun it"
    assert house.plan().actions == ()
    assert spoken(house, "a") == ids[0], "whoever comes next takes it up"
    assert not may_revive(house.estate(), "swept")
    with pytest.raises(NothingToUndo) as refused:
        undo_receipt(house, "swept")
    golden("undo", "what is open stays as it is", str(refused.value))
    assert end_idle(house, manual_clock, "again") == 2
    with pytest.raises(NothingToUndo) as refused:
        undo_receipt(house, "swept")
    golden("undo", "what has ended anew", str(refused.value))
    assert may_revive(house.estate(), "again")


def test_work_that_was_begun_stays_and_is_told(house: Sexton, manual_clock: ManualClock) -> None:
    ids = [spoken(house, key) for key in ("a", "b")]
    assert end_idle(house, manual_clock, "swept") == 2
    with house.worker() as worker:
        [taken] = house.ledger.finalizing.claim(worker.id, ["hook"], 1, manual_clock.now())
        assert house.ledger.finalizing.finish(taken, "posted", manual_clock.now())
        assert undo_receipt(house, "swept").opened.begun == 1
    assert [(each.session, each.note) for each in owed(house)] == [(taken.session, "posted")]
    assert all(house.find(id).is_open for id in ids)
    house.apply(house.plan(), "nothing")
    assert end_idle(house, manual_clock, "again") == 2
    [other] = set(ids) - {taken.session}
    assert [each.session for each in owed(house)] == [taken.session, other], "only what is new"


def test_what_is_over_by_its_rules_all_the_same_is_told(
    house: Sexton, manual_clock: ManualClock
) -> None:
    id = spoken(house, "a", count=7)
    assert end_idle(house, manual_clock, "swept") == 1
    [remark] = undo_receipt(house, "swept").opened.remarks
    assert remark.session == f"native/{id}"
    golden("undo", "over by its rules again", remark.says)


def test_a_reaped_session_is_opened_by_a_person_and_nobody_holds_it(
    house: Sexton, engine_url: str
) -> None:
    with holder(engine_url, "a", "cli") as (_, id):
        assert house.find(id).is_open
    assert [each.action.kind for each in house.apply(house.plan(), "reaped")] == ["reap"]
    assert undo_receipt(house, "reaped").opened.sessions == 1
    opened = house.find(id)
    assert (opened.is_open, opened.holders) == (True, ())


def test_who_held_a_session_before_its_end_was_undone_writes_no_more(
    house: Sexton, manual_clock: ManualClock
) -> None:
    with house.worker() as worker:
        session = worker.session("a", source="telegram")
        session.append(role="user", content="x")
        assert end_idle(house, manual_clock, "swept") == 1
        assert undo_receipt(house, "swept").opened.sessions == 1
        with pytest.raises(SessionFenced):
            session.append(role="user", content="y")
        assert worker.session("a", source="telegram").append(role="user", content="z") == 2
