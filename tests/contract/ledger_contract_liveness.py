"""What every ledger promises about beats, and about ending what died."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sexton.core.plan import ReapSession
from sexton.core.session import State
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_finalizing_foreign import attached, foreign
from tests.contract.ledger_contract_reviving import (
    GONE,
    RevivingContract,
    ShadowsContract,
    reap,
    reap_of,
    worker,
)
from tests.contract.ledger_contract_samples import (
    NO_RULES,
    NOON,
    at,
    born,
    enrol,
    holders,
    journal,
    observe,
    reread,
    say,
    seen,
)


class BeatsContract:
    """A beat is one number of one row; death is told to whoever beats on."""

    def test_a_beat_raises_the_counter_of_its_worker_and_nothing_else(self, ledger: Ledger) -> None:
        anna, berta = enrol(ledger, "anna"), enrol(ledger, "berta")
        begun = born(ledger, worker=anna)
        assert [ledger.reaping.beat(anna) for _ in range(3)] == [1, 2, 3]
        assert (ledger.workers.beat_of(anna), ledger.workers.beat_of("nobody")) == (3, None)
        assert (worker(ledger, anna).beat, worker(ledger, berta).beat) == (3, 0)
        assert reread(ledger, begun).active_at == begun.active_at

    def test_whoever_was_declared_dead_or_has_left_or_is_unknown_beats_no_more(
        self, ledger: Ledger
    ) -> None:
        dead, left = enrol(ledger, "dead"), enrol(ledger, "left")
        assert ledger.reaping.declare([(worker(ledger, dead), "process_gone: x")], at(1)) == 1
        ledger.book.leave(left, (), at(1))
        assert [ledger.reaping.beat(each) for each in (dead, left, "nobody")] == [None] * 3

    def test_death_is_declared_only_of_a_worker_that_has_not_beaten_since(
        self, ledger: Ledger
    ) -> None:
        anna, berta = enrol(ledger, "anna"), enrol(ledger, "berta")
        as_seen = [(worker(ledger, each), "lease_expired: silent") for each in (anna, berta)]
        ledger.reaping.beat(anna)
        born(ledger, worker=berta)
        assert ledger.reaping.declare(as_seen, at(1)) == 1
        assert worker(ledger, anna).dead_at is None
        found = worker(ledger, berta)
        assert (found.dead_at, found.evidence) == (at(1), "lease_expired: silent")
        assert ledger.reaping.declare(as_seen, at(2)) == 0
        assert worker(ledger, berta).dead_at == at(1)

    def test_whoever_has_left_is_not_declared_dead(self, ledger: Ledger) -> None:
        as_seen = worker(ledger, enrol(ledger, "anna"))
        ledger.book.leave("anna", (), at(1))
        assert ledger.reaping.declare([(as_seen, "process_gone: x")], at(2)) == 0

    def test_suspects_are_those_present_and_the_dead_that_still_hold_something(
        self, ledger: Ledger
    ) -> None:
        names = ["present", "left", "dead", "dead and holding"]
        for number, name in enumerate(names):
            enrol(ledger, name, at(number))
        begun = born(ledger, worker="dead and holding")
        ledger.book.leave("left", (), at(5))
        dead = [(worker(ledger, name), "x: y") for name in names[2:]]
        assert ledger.reaping.declare(dead, at(6)) == 2
        assert [each.id for each in ledger.reaping.suspects()] == ["present", "dead and holding"]
        ledger.reaping.release([(begun.ref, "dead and holding")])
        assert [each.id for each in ledger.reaping.suspects()] == ["present"]

    def test_the_sessions_of_a_worker_are_the_open_ones_it_holds_with_all_holders(
        self, ledger: Ledger
    ) -> None:
        anna, berta = enrol(ledger, "anna"), enrol(ledger, "berta")
        shared = ledger.book.join(born(ledger, "shared", worker=anna), berta, (), at(1))
        alone = born(ledger, "alone", worker=anna)
        others = born(ledger, "another's", worker=berta)
        over = born(ledger, "over", worker=anna)
        ledger.book.end_now(over, "closed", at(1))
        assert ledger.reaping.sessions_of(anna) == [shared, alone]
        assert ledger.reaping.sessions_of(anna, berta) == [shared, alone, others]
        assert ledger.reaping.sessions_of() == []

    def test_what_workers_leave_is_told_as_it_takes_to_end_it(self, ledger: Ledger) -> None:
        anna, berta = enrol(ledger, "anna"), enrol(ledger, "berta")
        elder = born(ledger, "elder", source="cli", worker=berta)
        shared = ledger.book.join(elder, anna, (), at(1))
        child = born(ledger, id="child", source="subagent", parent=elder.id, worker=anna)
        others = born(ledger, "another's", worker=berta)
        say(ledger, child, "hello", now=at(2))
        ledger.book.mark(child.ref, pinned=True)
        assert shared is not None
        left = ledger.reaping.left_by(anna)
        assert [each.seen for each in left] == [seen(shared), seen(reread(ledger, child))]
        assert [each.holders for each in left] == [(berta, anna), (anna,)]
        told = [(each.source, each.parent) for each in left]
        assert told == [("cli", None), ("subagent", elder.id)]
        both = ledger.reaping.left_by(anna, berta)
        assert [each.seen.ref for each in both] == [shared.ref, child.ref, others.ref]
        assert ledger.reaping.left_by() == []

    def test_only_the_dead_are_taken_off_a_session(self, ledger: Ledger) -> None:
        anna, berta = enrol(ledger, "anna"), enrol(ledger, "berta")
        ours = ledger.book.join(born(ledger, worker=anna), berta, (), at(1))
        other = born(ledger, "other", worker=anna)
        assert ours is not None
        ledger.reaping.declare([(worker(ledger, anna), "x: y")], at(2))
        ledger.reaping.release([(ours.ref, anna), (ours.ref, berta)])
        assert holders(reread(ledger, ours)) == [berta]
        assert holders(reread(ledger, other)) == [anna]
        assert reread(ledger, ours).epoch == 1

    def test_only_the_dead_let_go_of_what_its_home_has_ended(self, ledger: Ledger) -> None:
        anna, berta, home = enrol(ledger, "anna"), enrol(ledger, "berta"), attached(ledger)
        observe(ledger, home, foreign("there"))
        [session] = ledger.index.find("there", "there")
        assert ledger.reaping.occupy(session, anna, at(1))
        assert ledger.reaping.occupy(session, berta, at(1))
        dead = [(worker(ledger, anna), "x: y")]
        ledger.reaping.declare(dead, at(2))
        assert holders(reread(ledger, session)) == [anna, berta], "it may be reaped"
        observe(ledger, home, foreign("there", second=3))
        ledger.reaping.declare(dead, at(4))
        observe(ledger, home, foreign("there"))
        assert holders(reread(ledger, session)) == [berta], "it goes on with whoever lives"

    def test_progress_is_a_fact_of_a_running_turn_only(self, ledger: Ledger) -> None:
        anna, berta = enrol(ledger, "anna"), enrol(ledger, "berta")
        begun = ledger.book.join(born(ledger, worker=anna), berta, (), NOON)
        other = born(ledger, "other", worker=anna)
        assert begun is not None
        ledger.reaping.progress(begun.ref, anna, at(1))
        assert [each.progress_at for each in reread(ledger, begun).holders] == [None, None]
        for session, who in ((begun, anna), (begun, berta), (other, anna)):
            assert ledger.book.start_turn(session, who, NO_RULES, at(2))
        ledger.reaping.progress(begun.ref, anna, at(3))
        assert [each.progress_at for each in reread(ledger, begun).holders] == [at(3), None]
        assert reread(ledger, other).holders[0].progress_at is None
        assert reread(ledger, begun).active_at == begun.active_at
        ledger.book.finish_turn(begun, anna, False)
        assert reread(ledger, begun).holders[0].progress_at is None

    def test_whoever_occupies_a_session_is_busy_but_has_counted_no_turn(
        self, ledger: Ledger
    ) -> None:
        anna = enrol(ledger, "anna")
        begun, over = born(ledger, worker=anna), born(ledger, "other", worker=anna)
        assert ledger.reaping.occupy(begun, anna, at(1))
        assert [each.busy_since for each in reread(ledger, begun).holders] == [at(1)]
        assert replace(reread(ledger, begun), holders=begun.holders) == begun
        assert ledger.book.finish_turn(begun, anna, False)
        assert reread(ledger, begun).holders == begun.holders
        assert ledger.book.end_now(over, "done", at(2))
        assert not ledger.reaping.occupy(over, anna, at(3))
        assert not ledger.reaping.occupy(replace(begun, epoch=7), anna, at(3))
        assert reread(ledger, begun).holders == begun.holders


class ReapingContract:
    """A session ends with its holders, if it and they still are as they were seen."""

    def test_a_reaped_session_ended_when_it_was_last_active(self, ledger: Ledger) -> None:
        begun = born(ledger, source="cli", worker=enrol(ledger, "anna"))
        other = born(ledger, "other", worker="anna")
        say(ledger, begun, "last words", now=at(60))
        last = reread(ledger, begun)
        assert reap(ledger, reap_of(last)) == [True]
        facts: dict[str, Any] = {
            "state": State.ENDED,
            "ended_at": at(60),
            "end_reason": "reaped:process_gone",
            "holders": (),
        }
        assert reread(ledger, begun) == replace(last, **facts)
        assert reread(ledger, other).is_open
        [line] = journal(ledger, begun)
        assert (line.at, line.action, line.reason) == (at(3600), "reap", GONE)
        assert not ledger.reaping.beat("anna"), "its holder is told that it was taken for dead"
        assert worker(ledger, "anna").evidence == f"process_gone: {GONE.text}"

    def test_a_session_that_is_not_as_it_was_seen_is_left_alone(self, ledger: Ledger) -> None:
        begun = born(ledger, source="cli", worker=enrol(ledger, "anna"))
        others: list[dict[str, Any]] = [
            {"epoch": 2},
            {"active_at": at(-1)},
            {"message_count": 7},
            {"turn_count": 7},
        ]
        for otherwise in others:
            assert reap(ledger, reap_of(begun, **otherwise)) == [False]
        assert reread(ledger, begun) == begun
        assert journal(ledger) == []
        assert ledger.reaping.beat("anna")

    def test_a_session_that_has_ended_keeps_its_reason(self, ledger: Ledger) -> None:
        begun = born(ledger, worker=enrol(ledger, "anna"))
        ended = [begun, born(ledger, "nobody's")]
        for each in ended:
            ledger.book.end_now(each, "done", at(1))
        reaps = [reap_of(begun), ReapSession(seen=seen(ended[1]), reason=GONE)]
        assert reap(ledger, *reaps) == [False, False]
        assert [reread(ledger, each).end_reason for each in ended] == ["done", "done"]

    def test_a_beat_that_came_in_between_saves_the_session(self, ledger: Ledger) -> None:
        anna, berta = enrol(ledger, "anna"), enrol(ledger, "berta")
        begun = ledger.book.join(born(ledger, worker=anna), berta, (), NOON)
        assert begun is not None
        assert ledger.reaping.beat(berta)
        assert reap(ledger, reap_of(begun)) == [False]
        assert reread(ledger, begun).is_open
        assert ledger.reaping.beat(anna), "nobody was declared dead"
        assert journal(ledger) == []

    def test_whoever_is_declared_dead_is_dead_whatever_its_beat_was(self, ledger: Ledger) -> None:
        begun = born(ledger, worker=enrol(ledger, "anna"))
        ledger.reaping.beat("anna")
        ledger.reaping.declare([(worker(ledger, "anna"), "x: first")], at(1))
        assert reap(ledger, reap_of(begun)) == [True]
        dead = born(ledger, "another", worker="anna")
        assert holders(dead) == ["anna"]
        assert worker(ledger, "anna").evidence == "x: first"

    def test_whoever_joined_meanwhile_keeps_the_session(self, ledger: Ledger) -> None:
        begun = born(ledger, worker=enrol(ledger, "anna"))
        nobodys = born(ledger, "nobody's")
        for each in (begun, nobodys):
            assert ledger.book.join(each, enrol(ledger, f"joins {each.ref}"), (), at(1))
        raised = replace(nobodys, epoch=2)
        reaps = [reap_of(begun), ReapSession(seen=seen(raised), reason=GONE)]
        assert reap(ledger, *reaps) == [False, False]
        assert all(reread(ledger, each).is_open for each in (begun, nobodys))
        assert ledger.reaping.beat("anna")

    def test_a_worker_that_does_not_hold_the_session_proves_nothing_about_it(
        self, ledger: Ledger
    ) -> None:
        begun = born(ledger, worker=enrol(ledger, "anna"))
        born(ledger, "other", worker=enrol(ledger, "stranger"))
        assert reap(ledger, reap_of(begun, ("stranger", 0))) == [False]
        assert reread(ledger, begun) == begun

    def test_many_are_reaped_together_and_each_on_its_own_evidence(self, ledger: Ledger) -> None:
        for name in ("dead", "lives"):
            enrol(ledger, name)
        gone = [born(ledger, f"gone {number}", worker="dead") for number in range(5)]
        kept = [born(ledger, f"kept {number}", worker="lives") for number in range(5)]
        ledger.reaping.beat("lives")
        mixed = [reap_of(each) for pair in zip(kept, gone, strict=True) for each in pair]
        assert reap(ledger, *mixed) == [False, True] * 5
        assert [reread(ledger, each).is_open for each in kept + gone] == [True] * 5 + [False] * 5
        assert len(journal(ledger)) == 5

    def test_nothing_is_known_of_a_session_without_holders_and_it_can_be_reaped(
        self, ledger: Ledger
    ) -> None:
        begun = born(ledger)
        assert reap(ledger, ReapSession(seen=seen(begun), reason=GONE)) == [True]
        assert reread(ledger, begun).ended_at == begun.active_at


class LivenessContract(BeatsContract, ReapingContract, RevivingContract, ShadowsContract):
    """All that telling the living from the dead needs of a ledger."""
