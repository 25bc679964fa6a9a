"""What every ledger promises about who holds a session, and about the fence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sexton.core.schedule import Schedule
from sexton.core.session import State
from sexton.sessions.model import Appended
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_samples import (
    NOON,
    at,
    born,
    enrol,
    everything,
    heard,
    holders,
    reread,
    say,
)

DIES = ("cli", "cron")


class HoldersContract:
    """Joining, adopting, leaving; when the epoch rises and when it does not."""

    def test_joining_a_held_session_keeps_its_epoch(self, ledger: Ledger) -> None:
        begun = born(ledger, worker=enrol(ledger, "zoe"))
        joined = ledger.book.join(begun, enrol(ledger, "anna"), (), at(1))
        assert joined == reread(ledger, begun)
        assert joined == replace(begun, holders=joined.holders)
        assert [(each.worker.id, each.joined_at) for each in joined.holders] == [
            ("zoe", NOON),
            ("anna", at(1)),
        ]

    def test_joining_what_one_holds_already_changes_nothing(self, ledger: Ledger) -> None:
        begun = born(ledger, worker=enrol(ledger, "anna"))
        assert ledger.book.join(begun, "anna", (), at(1)) == begun

    def test_adopting_what_nobody_holds_raises_the_epoch_by_one(self, ledger: Ledger) -> None:
        begun = born(ledger, worker=enrol(ledger, "anna"))
        other = born(ledger, "other", worker=enrol(ledger, "berta"))
        assert ledger.book.leave("anna", DIES, at(1)) == []
        adopted = ledger.book.join(begun, "berta", (), at(2))
        assert adopted is not None
        assert (adopted.epoch, holders(adopted)) == (2, ["berta"])
        assert adopted == reread(ledger, begun)
        assert reread(ledger, other) == other

    def test_adopting_from_dead_holders_raises_the_epoch_and_drops_them(
        self, ledger: Ledger
    ) -> None:
        begun = born(ledger, worker=enrol(ledger, "anna"))
        other = born(ledger, "other", worker="anna")
        held = ledger.book.join(begun, enrol(ledger, "berta"), (), NOON)
        assert held is not None
        adopted = ledger.book.join(held, enrol(ledger, "clara"), ("anna", "berta"), at(1))
        assert (adopted and adopted.epoch, holders(adopted)) == (2, ["clara"])
        assert reread(ledger, other) == other

    def test_while_one_holder_lives_the_death_of_others_does_not_raise_the_epoch(
        self, ledger: Ledger
    ) -> None:
        begun = born(ledger, worker=enrol(ledger, "anna"))
        held = ledger.book.join(begun, enrol(ledger, "berta"), (), NOON)
        assert held is not None
        joined = ledger.book.join(held, enrol(ledger, "clara"), ("anna",), at(1))
        assert (joined and joined.epoch, holders(joined)) == (1, ["berta", "clara"])

    def test_joining_with_another_epoch_changes_nothing(self, ledger: Ledger) -> None:
        begun = born(ledger, worker=enrol(ledger, "anna"))
        for epoch in (0, 2):
            outdated = replace(begun, epoch=epoch)
            assert ledger.book.join(outdated, enrol(ledger, f"b{epoch}"), ("anna",), at(1)) is None
        assert reread(ledger, begun) == begun

    def test_joining_what_has_ended_changes_nothing(self, ledger: Ledger) -> None:
        begun = born(ledger, worker=enrol(ledger, "anna"))
        born(ledger, "other")
        assert ledger.book.end_now(begun, "closed", at(1))
        ended = reread(ledger, begun)
        assert ledger.book.join(begun, enrol(ledger, "berta"), ("anna",), at(2)) is None
        assert reread(ledger, begun) == ended
        assert ledger.book.leave("berta", ("chat",), at(3)) == []

    def test_marks_of_turns_are_corrected_unless_they_have_changed(self, ledger: Ledger) -> None:
        anna, berta = enrol(ledger, "anna"), enrol(ledger, "berta")
        begun, other, idle = (born(ledger, key, worker=anna) for key in ("a", "b", "c"))
        for session, name in ((begun, anna), (begun, anna), (other, anna), (begun, berta)):
            assert ledger.book.start_turn(session, name, Schedule(0), NOON)
        assert idle.holders
        assert ledger.workers.busy(anna) == {begun.ref: 2, other.ref: 1}
        ledger.workers.recount(anna, begun.ref, 1, 0)  # another number was seen
        assert ledger.workers.busy(anna) == {begun.ref: 2, other.ref: 1}
        ledger.reaping.progress(begun.ref, anna, at(1))
        ledger.workers.recount(anna, begun.ref, 2, 1)
        assert ledger.workers.busy(anna) == {begun.ref: 1, other.ref: 1}
        facts = {each.worker.id: each for each in reread(ledger, begun).holders}
        assert (facts[anna].busy_since, facts[anna].progress_at) == (NOON, at(1))
        ledger.workers.recount(anna, begun.ref, 1, 0)
        assert ledger.workers.busy(anna) == {other.ref: 1}
        facts = {each.worker.id: each for each in reread(ledger, begun).holders}
        assert (facts[anna].busy_since, facts[anna].progress_at) == (None, None)
        assert ledger.workers.busy(berta) == {begun.ref: 1}

    def test_whoever_was_taken_for_dead_can_not_write_any_more(self, ledger: Ledger) -> None:
        begun = born(ledger, worker=enrol(ledger, "anna"))
        say(ledger, begun, "before")
        adopted = ledger.book.join(begun, enrol(ledger, "berta"), ("anna",), at(1))
        assert adopted is not None
        assert say(ledger, begun, "from the grave") is None
        assert ledger.book.end_now(begun, "closed", at(2)) is False
        assert ledger.book.mark(begun.ref, pinned=True, epoch=begun.epoch) is False
        assert ledger.book.mark(begun.ref, title="Old", epoch=begun.epoch) is False
        assert ledger.book.finish_turn(begun, "anna", failed=True, guard="{}") is False
        assert ledger.spending.snapshot(begun.ref) is None
        assert reread(ledger, begun) == adopted
        assert ledger.book.mark(begun.ref, pinned=True, title="New", epoch=adopted.epoch)
        assert say(ledger, adopted, "after") == Appended(2)
        assert [message.content for message in heard(ledger, begun)] == ["before", "after"]

    def test_a_session_that_dies_with_its_owner_ends_when_the_last_one_leaves(
        self, ledger: Ledger
    ) -> None:
        begun = born(ledger, source="cli", worker=enrol(ledger, "anna"))
        assert ledger.book.join(begun, enrol(ledger, "berta"), (), NOON)
        assert ledger.book.leave("anna", DIES, at(1)) == []
        assert holders(reread(ledger, begun)) == ["berta"]
        [ended] = ledger.book.leave("berta", DIES, at(2))
        assert ended == reread(ledger, begun)
        facts: dict[str, Any] = {
            "state": State.ENDED,
            "ended_at": at(2),
            "end_reason": "closed",
            "holders": (),
        }
        assert ended == replace(begun, **facts)

    def test_any_other_session_waits_without_a_holder_for_the_next_opener(
        self, ledger: Ledger
    ) -> None:
        begun = born(ledger, source="chat", worker=enrol(ledger, "anna"))
        assert ledger.book.leave("anna", DIES, at(1)) == []
        assert reread(ledger, begun) == replace(begun, holders=())

    def test_leaving_gives_up_ones_own_sessions_and_no_other(self, ledger: Ledger) -> None:
        anna, berta = enrol(ledger, "anna"), enrol(ledger, "berta")
        mine = [born(ledger, f"mine {source}", source=source, worker=anna) for source in DIES]
        others = born(ledger, "other's", source="cli", worker=berta)
        nobodys = born(ledger, "nobody's", source="cli")
        ended = ledger.book.leave(anna, DIES, at(1))
        assert {each.id for each in ended} == {each.id for each in mine}
        assert [reread(ledger, each) for each in (others, nobodys)] == [others, nobodys]
        assert [worker.id for worker in ledger.workers.all()] == ["berta"]

    def test_leaving_a_second_time_changes_nothing(self, ledger: Ledger) -> None:
        born(ledger, source="cli", worker=enrol(ledger, "anna"))
        ledger.book.leave("anna", DIES, at(1))
        before = everything(ledger)
        assert ledger.book.leave("anna", DIES, at(2)) == []
        assert ledger.book.leave("a stranger", DIES, at(2)) == []
        assert everything(ledger) == before

    def test_leaving_keeps_the_reason_of_what_had_ended_before(self, ledger: Ledger) -> None:
        begun = born(ledger, source="cli", worker=enrol(ledger, "anna"))
        assert ledger.book.end_now(begun, "done", at(1))
        assert ledger.book.leave("anna", DIES, at(2)) == []
        assert reread(ledger, begun).end_reason == "done"
