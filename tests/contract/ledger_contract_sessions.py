"""What every ledger promises about the moves of a session."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sexton.core.schedule import Schedule
from sexton.core.session import Relation, Session, State
from sexton.sessions.model import Appended
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_samples import (
    IDLE,
    NO_RULES,
    NOON,
    at,
    birth,
    born,
    enrol,
    entry,
    everything,
    holders,
    journal,
    reread,
    say,
    seen,
)


class SessionsContract:
    """Beginning, ending, replacing, turns and marks."""

    def test_a_new_session_is_open_empty_and_as_it_was_born(self, ledger: Ledger) -> None:
        worker = enrol(ledger, "anna")
        facts: dict[str, Any] = {
            "id": "first",
            "source": "chat",
            "chat_type": "group",
            "job": "nightly",
        }
        family: dict[str, Any] = {
            "parent": "elder",
            "relation": Relation.BRANCH,
            "title": "Über uns ☕",
        }
        schedule = Schedule(3, at=at(60))
        begun = born(ledger, "talk", worker=worker, schedule=schedule, **facts, **family)
        assert begun == Session(
            ref=begun.ref, home="native", key="talk", started_at=NOON, active_at=NOON,
            due_at=at(60), holders=begun.holders, **facts, **family,
        )  # fmt: skip
        assert (begun.state, begun.epoch, holders(begun)) == (State.OPEN, 1, ["anna"])
        assert [holder.joined_at for holder in begun.holders] == [NOON]
        assert reread(ledger, begun) == ledger.book.current("talk") == begun

    def test_a_key_has_one_open_session(self, ledger: Ledger) -> None:
        first = born(ledger, "talk")
        assert ledger.book.begin(birth("talk"), at(1)) is None
        assert everything(ledger) == [first]

    def test_an_ended_session_makes_room_for_the_next_of_its_key(self, ledger: Ledger) -> None:
        first = born(ledger, "talk")
        assert ledger.book.end_now(first, "closed", at(1))
        assert ledger.book.current("talk") is None
        second = born(ledger, "talk")
        assert ledger.book.current("talk") == second != first

    def test_an_id_is_given_once_even_after_its_session_ended(self, ledger: Ledger) -> None:
        first = born(ledger, "talk", id="same")
        assert ledger.book.begin(birth("other", id="same"), NOON) is None
        assert ledger.book.end_now(first, "closed", at(1))
        assert ledger.book.begin(birth("other", id="same"), at(2)) is None
        assert len(everything(ledger)) == 1

    def test_sessions_without_a_key_do_not_meet(self, ledger: Ledger) -> None:
        first, second = born(ledger, None), born(ledger, None)
        assert {each.ref for each in everything(ledger)} == {first.ref, second.ref}

    def test_keys_are_compared_byte_by_byte(self, ledger: Ledger) -> None:
        keys = ["talk", "Talk", "talk ", "tálk", "ta\u0301lk", "t%lk", "ta_k", "7", "07"]
        refs = {key: born(ledger, key).ref for key in keys}
        found = {key: ledger.book.current(key) for key in keys}
        assert {key: each.ref for key, each in found.items() if each} == refs
        assert ledger.book.current("nobody's") is None

    def test_ending_stores_the_reason_the_time_and_a_line_in_the_journal(
        self, ledger: Ledger
    ) -> None:
        begun = born(ledger, worker=enrol(ledger, "anna"))
        assert ledger.book.end(seen(begun), IDLE, entry(begun), at(9)) is True
        ended = reread(ledger, begun)
        facts: dict[str, Any] = {
            "state": State.ENDED,
            "ended_at": at(9),
            "end_reason": "idle",
            "holders": (),
        }
        assert ended == replace(begun, **facts)
        [line] = journal(ledger, begun)
        assert (line.at, line.session, line.reason) == (at(9), begun.id, IDLE)

    def test_the_first_reason_wins(self, ledger: Ledger) -> None:
        begun = born(ledger)
        assert ledger.book.end_now(begun, "closed", at(1)) is True
        assert ledger.book.end_now(begun, "late", at(2)) is False
        assert ledger.book.end(seen(begun), IDLE, entry(begun), at(3)) is False
        ended = reread(ledger, begun)
        assert (ended.end_reason, ended.ended_at) == ("closed", at(1))
        assert journal(ledger) == []

    def test_a_session_that_moved_on_since_it_was_seen_is_not_ended(self, ledger: Ledger) -> None:
        begun = born(ledger, worker=enrol(ledger, "anna"))
        say(ledger, begun, "hello", now=at(5))
        now = reread(ledger, begun)
        for stale in (
            seen(now, epoch=2),
            seen(now, epoch=0),
            seen(now, active_at=NOON),
            seen(now, active_at=at(6)),
            seen(now, message_count=0),
            seen(now, message_count=2),
            seen(now, turn_count=1),
            seen(now, pinned=True),
            seen(now, turn_count=1),
            seen(now, pinned=True),
            seen(now, ref=now.ref + 1),
        ):
            assert ledger.book.end(stale, IDLE, entry(now), at(9)) is False
        assert reread(ledger, begun) == now
        assert journal(ledger) == []

    def test_ending_one_session_leaves_every_other_alone(self, ledger: Ledger) -> None:
        anna = enrol(ledger, "anna")
        first, second, third = (born(ledger, key, worker=anna) for key in ("a", "b", "c"))
        assert ledger.book.end(seen(first), IDLE, entry(first), at(1))
        assert [reread(ledger, each) for each in (second, third)] == [second, third]
        assert ledger.book.end_now(second, "closed", at(1))
        assert reread(ledger, third) == third
        assert ledger.book.replace(reread(ledger, third), IDLE, birth("d"), entry(third), at(2))
        assert [each.key for each in everything(ledger) if each.is_open] == ["d"]
        fourth = born(ledger, "e", worker=anna, now=at(3))
        assert ledger.book.end_now(replace(fourth, ref=fourth.ref + 1), "closed", at(4)) is False
        assert ledger.book.end_now(replace(fourth, id="another"), "closed", at(4)) is False
        assert reread(ledger, fourth) == fourth

    def test_ending_now_ends_what_has_been_written_since(self, ledger: Ledger) -> None:
        begun = born(ledger, worker=enrol(ledger, "anna"))
        say(ledger, begun, "hello")
        assert ledger.book.end_now(begun, "closed", at(1)) is True
        ended = reread(ledger, begun)
        assert (ended.message_count, ended.end_reason, ended.holders) == (1, "closed", ())

    def test_ending_now_and_leaving_are_journalled_too(self, ledger: Ledger) -> None:
        first = born(ledger, "a")
        assert ledger.book.end_now(first, "closed", at(1), entry(first)) is True
        assert ledger.book.end_now(first, "closed", at(2), entry(first)) is False
        second = born(ledger, "b", source="cli", worker=enrol(ledger, "anna"))
        ledger.book.leave("anna", ("cli",), at(3), "me")
        assert [line.at for line in journal(ledger, first)] == [at(1)]
        [line] = journal(ledger, second)
        assert (line.at, line.actor, line.action, line.result) == (at(3), "me", "end", "done")

    def test_ending_now_with_another_epoch_changes_nothing(self, ledger: Ledger) -> None:
        begun = born(ledger, worker=enrol(ledger, "anna"))
        for epoch in (0, 2):
            assert ledger.book.end_now(replace(begun, epoch=epoch), "closed", at(1)) is False
        assert reread(ledger, begun) == begun

    def test_replacing_ends_one_and_begins_the_next_in_one_step(self, ledger: Ledger) -> None:
        old = born(ledger, worker=enrol(ledger, "anna"))
        new = birth(old.key, worker=enrol(ledger, "berta"))
        fresh = ledger.book.replace(old, IDLE, new, entry(old), at(9))
        assert ledger.book.current("talk") == fresh
        assert (holders(fresh), fresh and fresh.started_at) == (["berta"], at(9))
        ended = reread(ledger, old)
        assert (ended.end_reason, ended.ended_at, ended.holders) == ("idle", at(9), ())
        assert len(journal(ledger, old)) == len(journal(ledger)) == 1

    def test_what_was_ended_or_taken_over_is_not_replaced(self, ledger: Ledger) -> None:
        old = born(ledger, worker=enrol(ledger, "anna"))
        fenced = replace(old, epoch=2)
        assert ledger.book.replace(fenced, IDLE, birth(), entry(old), at(1)) is None
        assert everything(ledger) == [old]
        assert ledger.book.end_now(old, "closed", at(1))
        assert ledger.book.replace(old, IDLE, birth(), entry(old), at(2)) is None
        assert [each.end_reason for each in everything(ledger)] == ["closed"]
        assert journal(ledger) == []

    def test_a_session_that_was_written_to_meanwhile_is_not_replaced(self, ledger: Ledger) -> None:
        old = born(ledger, worker=enrol(ledger, "anna"))
        say(ledger, old, "not over yet")
        now = reread(ledger, old)
        assert ledger.book.replace(old, IDLE, birth(), entry(old), at(1)) is None
        assert everything(ledger) == [now]
        assert journal(ledger) == []

    def test_a_replacement_that_can_not_begin_changes_nothing(self, ledger: Ledger) -> None:
        old = born(ledger, worker=enrol(ledger, "anna"))
        taken = birth("talk", id=old.id)
        assert ledger.book.replace(old, IDLE, taken, entry(old), at(1)) is None
        assert everything(ledger) == [old]
        assert journal(ledger) == []

    def test_a_turn_is_counted_and_marks_its_holder_busy(self, ledger: Ledger) -> None:
        anna, berta = enrol(ledger, "anna"), enrol(ledger, "berta")
        begun = born(ledger, worker=anna)
        assert ledger.book.join(begun, berta, (), NOON)
        assert ledger.book.start_turn(begun, berta, NO_RULES, NOON)
        for seconds in (1, 2):
            assert ledger.book.start_turn(begun, anna, NO_RULES, at(seconds)) == Appended(0)
        assert _busy(ledger, begun) == [at(1), NOON]
        ledger.book.finish_turn(begun, anna, failed=False)
        assert _busy(ledger, begun) == [at(1), NOON]
        ledger.book.finish_turn(begun, anna, failed=False)
        assert _busy(ledger, begun) == [None, NOON]
        ledger.book.finish_turn(begun, anna, failed=False)
        for seconds in (3, 4):
            assert ledger.book.start_turn(begun, anna, NO_RULES, at(seconds))
        ledger.book.finish_turn(begun, anna, failed=False)
        assert _busy(ledger, begun) == [at(3), NOON]
        now = reread(ledger, begun)
        assert (now.turn_count, now.errored, now.active_at) == (5, False, NOON)

    def test_a_turn_of_another_session_of_the_same_worker_is_another_turn(
        self, ledger: Ledger
    ) -> None:
        anna = enrol(ledger, "anna")
        first, second = born(ledger, "a", worker=anna), born(ledger, "b", worker=anna)
        assert ledger.book.start_turn(first, anna, NO_RULES, at(1))
        assert (_busy(ledger, first), _busy(ledger, second)) == ([at(1)], [None])
        ledger.book.finish_turn(second, anna, failed=True)
        assert _busy(ledger, first) == [at(1)]
        assert [reread(ledger, each).errored for each in (first, second)] == [False, True]
        assert [reread(ledger, each).turn_count for each in (first, second)] == [1, 0]

    def test_a_refused_turn_changes_nothing(self, ledger: Ledger) -> None:
        anna = enrol(ledger, "anna")
        begun = born(ledger, worker=anna)
        fenced = replace(begun, epoch=2)
        assert ledger.book.start_turn(fenced, anna, NO_RULES, at(1)) is None
        assert reread(ledger, begun) == begun
        assert ledger.book.end_now(begun, "closed", at(2))
        ended = reread(ledger, begun)
        assert ledger.book.start_turn(begun, anna, NO_RULES, at(3)) is None
        assert reread(ledger, begun) == ended

    def test_the_last_turn_that_is_allowed_makes_the_session_due(self, ledger: Ledger) -> None:
        anna = enrol(ledger, "anna")
        schedule = Schedule(0, at=at(60), at_turns=2)
        begun = born(ledger, worker=anna, schedule=schedule)
        assert ledger.book.start_turn(begun, anna, schedule, at(1))
        assert reread(ledger, begun).due_at == at(60)
        assert ledger.book.start_turn(begun, anna, schedule, at(2))
        assert reread(ledger, begun).due_at == at(2)

    def test_a_person_pins_and_names_a_session(self, ledger: Ledger) -> None:
        first, second = born(ledger, "a"), born(ledger, "b")
        assert ledger.book.mark(first.ref, pinned=True)
        assert ledger.book.mark(first.ref, title="Plans")
        assert reread(ledger, first) == replace(first, pinned=True, title="Plans")
        assert ledger.book.mark(first.ref, pinned=False, title="Old plans")
        assert reread(ledger, first) == replace(first, title="Old plans")
        assert reread(ledger, second) == second
        assert ledger.book.mark(first.ref + 1000, pinned=True) is False
        assert ledger.book.mark(first.ref + 1000, title="Nobody's") is False


def _busy(ledger: Ledger, session: Session) -> list[object]:
    return [holder.busy_since for holder in reread(ledger, session).holders]
