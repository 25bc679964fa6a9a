"""What every ledger promises about who does the work that is owed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from sexton.core.session import State
from sexton.finalizers.model import Finalization
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_finalizing_samples import (
    DEAD,
    DONE,
    LOG,
    MEMORY,
    PENDING,
    RUNNING,
    claim,
    ended,
    one_taken,
    owed,
    rule,
    spans,
    told,
)
from tests.contract.ledger_contract_reviving import reap, reap_of, revive, worker
from tests.contract.ledger_contract_samples import (
    NOON,
    at,
    enrol,
    reread,
)

DAY, SECOND = timedelta(days=1), timedelta(seconds=1)


def finishes(ledger: Ledger, taken: Finalization) -> bool:
    return ledger.finalizing.finish(taken, "fine", at(9000))


def memoises(ledger: Ledger, taken: Finalization) -> bool:
    return ledger.finalizing.memoise(taken, b"stolen")


def puts_back(ledger: Ledger, taken: Finalization) -> bool:
    return ledger.finalizing.put_back(taken, "stolen", at(9000), at(1))


REPORTS: tuple[Callable[[Ledger, Finalization], bool], ...] = (finishes, memoises, puts_back)


class ClaimsContract:
    """Work is one worker's at a time, and only its own word counts."""

    def test_the_oldest_work_whose_time_has_come_is_taken_first(self, ledger: Ledger) -> None:
        rule(ledger, LOG, MEMORY)
        enrol(ledger, "keeper")
        over = [ended(ledger, 4, second) for second in (30, 10, 20)]
        first = claim(ledger, limit=3, now=at(30))
        assert [(each.session, each.finalizer) for each in first] == [
            (over[0].id, "log"),
            (over[0].id, "memory"),
            (over[1].id, "log"),
        ]
        assert [(each.state, each.worker, each.attempts, each.claim) for each in first] == [
            (RUNNING, "keeper", 0, 1)
        ] * 3
        for each, second in zip(first, (50, 40, 60), strict=True):
            assert ledger.finalizing.put_back(each, "no", at(second), at(30))
        assert claim(ledger, limit=0) == []
        assert len(claim(ledger, now=at(39))) == 3, "those that nobody has tried yet"
        assert claim(ledger, now=at(39)) == []
        later = claim(ledger, limit=2, now=at(60))
        assert [each.ref for each in later] == [first[1].ref, first[0].ref]

    def test_fresh_work_does_not_wait_for_the_clock_of_another_host(self, ledger: Ledger) -> None:
        rule(ledger, LOG)
        enrol(ledger, "keeper")
        over = ended(ledger, 1, 200_000)
        [found] = owed(ledger, over)
        assert found.owed_at == found.not_before == at(200_000)
        assert [each.session for each in claim(ledger, now=at(1))] == [over.id]

    def test_work_of_a_session_that_is_open_again_waits_for_its_next_end(
        self, ledger: Ledger
    ) -> None:
        rule(ledger, LOG)
        enrol(ledger, "keeper")
        begun = told(ledger, 2, "talk", worker=enrol(ledger, "owner"))
        assert reap(ledger, reap_of(begun)) == [True]
        [taken] = claim(ledger)
        assert puts_back(ledger, taken)
        again = revive(ledger, begun, enrol(ledger, "heir"))
        assert again is not None
        other = ended(ledger)
        assert [each.session for each in claim(ledger, now=at(9000))] == [other.id]
        assert ledger.book.end_now(again, "closed", at(9000))
        [same] = claim(ledger, now=at(9000))
        assert (same.key, same.attempts) == (taken.key, 1)

    def test_what_has_a_memo_is_for_the_host_that_wrote_it_for_a_day(self, ledger: Ledger) -> None:
        _, taken = one_taken(ledger)
        enrol(ledger, "neighbour")
        enrol(ledger, "far away", host="elsewhere")
        assert ledger.finalizing.memoise(taken, b"answer")
        assert puts_back(ledger, taken)
        assert claim(ledger, "far away", now=at(9000)) == []
        [again] = claim(ledger, "neighbour", now=at(9000))
        assert puts_back(ledger, again)
        assert claim(ledger, "far away", now=at(9000) + DAY - timedelta(seconds=1)) == []
        [third] = claim(ledger, "far away", now=at(9000) + DAY)
        assert ledger.finalizing.memo(third) == b"answer"
        assert puts_back(ledger, third)
        assert claim(ledger, "neighbour", now=at(9000)) == [], "it may be done there now"
        assert len(claim(ledger, "far away", now=at(9000))) == 1

    def test_work_with_which_one_worker_after_the_other_dies_is_tried_ever_later(
        self, ledger: Ledger
    ) -> None:
        rule(ledger, LOG)
        ended(ledger)
        [elsewhere] = claim(ledger, enrol(ledger, "lives"))
        ended(ledger)
        now, waits = at(3600), []
        for number in range(1, 6):
            name = enrol(ledger, f"keeper {number}")
            assert len(claim(ledger, name, now=now)) == 1
            ledger.reaping.declare([(worker(ledger, name), "x: y")], now)
            assert ledger.finalizing.free(now) == 1
            other, freed = owed(ledger)
            assert other == elsewhere
            assert (freed.state, freed.attempts, freed.crashes) == (PENDING, 0, number)
            waits.append(freed.not_before - now)
            now = freed.not_before
            if waits[-1] > SECOND:
                assert claim(ledger, "lives", now=now - SECOND) == []
        assert waits[0] == timedelta(0)
        assert all(later > SECOND for later in waits[1:])
        assert waits[4] > 5 * waits[1]
        assert "5" in (freed.last_error or "")

    def test_what_is_not_done_is_counted_by_finalizer_and_how_it_stands(
        self, ledger: Ledger
    ) -> None:
        assert ledger.finalizing.tally() == {}
        rule(ledger, LOG, MEMORY)
        enrol(ledger, "keeper")
        for _ in range(4):
            ended(ledger, 4)
        done, dead, _ = claim(ledger, finalizers=["log"], limit=3)
        assert finishes(ledger, done)
        assert ledger.finalizing.put_back(dead, "no", None, at(1))
        assert ledger.finalizing.tally() == {
            ("log", DEAD): 1,
            ("log", PENDING): 1,
            ("log", RUNNING): 1,
            ("memory", PENDING): 4,
        }

    def test_only_the_finalizers_asked_for_are_taken(self, ledger: Ledger) -> None:
        rule(ledger, LOG, MEMORY)
        enrol(ledger, "keeper")
        ended(ledger, 4)
        assert claim(ledger, finalizers=[]) == []
        assert claim(ledger, finalizers=["unheard of"]) == []
        assert [each.finalizer for each in claim(ledger, finalizers=["memory"])] == ["memory"]
        assert [each.finalizer for each in claim(ledger)] == ["log"]

    def test_a_worker_that_is_unknown_or_dead_or_has_left_gets_nothing(
        self, ledger: Ledger
    ) -> None:
        rule(ledger, LOG)
        for name in ("keeper", "dead", "left"):
            enrol(ledger, name)
        ended(ledger)
        ledger.reaping.declare([(worker(ledger, "dead"), "x: y")], at(1))
        ledger.book.leave("left", (), at(1))
        assert [claim(ledger, name) for name in ("dead", "left", "unknown")] == [[]] * 3
        assert len(claim(ledger)) == 1

    def test_whoever_lost_its_claim_can_report_nothing(self, ledger: Ledger) -> None:
        over, lost = one_taken(ledger)
        ended(ledger)
        [other] = claim(ledger)
        assert ledger.finalizing.memoise(lost, b"kept")
        assert ledger.finalizing.put_back(lost, "later", at(0), at(1))
        assert [report(ledger, lost) for report in REPORTS] == [False] * 3
        [taken] = claim(ledger)
        assert taken.claim == 2
        for stranger in (lost, replace(taken, worker="stranger"), replace(taken, ref=other.ref)):
            assert [report(ledger, stranger) for report in REPORTS] == [False] * 3
        assert (spans(ledger, over), ledger.finalizing.memo(taken)) == (
            [("log", 0, 1, RUNNING)],
            b"kept",
        )
        assert ledger.finalizing.memo(other) is None
        assert finishes(ledger, taken)
        assert [report(ledger, taken) for report in REPORTS] == [False] * 3
        assert reread(ledger, over).state is State.FINALIZED

    def test_work_of_the_dead_and_of_those_who_left_is_free_and_that_of_others_is_not(
        self, ledger: Ledger
    ) -> None:
        rule(ledger, LOG)
        names = ("lives", "dead", "left")
        taken = {}
        for name in names:
            ended(ledger)
            [taken[name]] = claim(ledger, enrol(ledger, name))
        assert ledger.finalizing.memoise(taken["dead"], b"answer")
        assert ledger.finalizing.free(at(4000)) == 0
        ledger.reaping.declare([(worker(ledger, "dead"), "x: y")], at(1))
        ledger.book.leave("left", (), at(1))
        assert ledger.finalizing.free(at(4000)) == 2
        assert ledger.finalizing.free(at(4000)) == 0
        assert [(each.state, each.worker) for each in owed(ledger)] == [
            (RUNNING, "lives"), (PENDING, None), (PENDING, None),
        ]  # fmt: skip
        assert claim(ledger, "lives", now=at(3999)) == []
        for name in ("dead", "left"):
            assert [report(ledger, taken[name]) for report in REPORTS] == [False] * 3
        again = claim(ledger, "lives", now=at(4000))
        assert [(each.attempts, each.claim, each.crashes) for each in again] == [
            (0, 2, 1), (0, 2, 0),
        ], "who leaves has died of nothing"  # fmt: skip
        assert ledger.finalizing.memo(again[0]) == b"answer"

    def test_work_of_a_worker_that_is_forgotten_is_free(self, ledger: Ledger) -> None:
        _, taken = one_taken(ledger)
        ledger.book.leave("keeper", (), at(3600))
        enrol(ledger, "much later", NOON + 30 * DAY)
        assert ledger.finalizing.free(NOON + 30 * DAY) == 1
        [again] = claim(ledger, "much later", now=NOON + 30 * DAY)
        assert again.ref == taken.ref

    def test_work_that_a_clock_put_off_for_long_is_taken_up_once_the_clock_is_right(
        self, ledger: Ledger
    ) -> None:
        over, taken = one_taken(ledger)
        ended(ledger)
        [other] = claim(ledger)
        for each, again in ((taken, NOON + 2 * DAY), (other, NOON + 99 * DAY)):
            assert ledger.finalizing.put_back(each, "busy", again, NOON)
        assert ledger.finalizing.free(NOON) == 0
        [found] = claim(ledger, now=NOON)
        assert found.ref == other.ref
        assert owed(ledger, over)[0].not_before == NOON + 2 * DAY, "an endpoint may have asked so"
        [late] = claim(ledger, now=NOON + 2 * DAY)
        assert ledger.finalizing.free(NOON - DAY) == 0
        assert owed(ledger, over)[0].not_before == late.not_before, "it is in somebody's hands"

    def test_done_work_is_done_for_good(self, ledger: Ledger) -> None:
        over, first = one_taken(ledger)
        assert puts_back(ledger, first)
        [taken] = claim(ledger, now=at(9000))
        assert ledger.finalizing.memoise(taken, b"\0answer")
        assert finishes(ledger, taken)
        [done] = owed(ledger, over)
        expected = replace(taken, state=DONE, worker=None, attempts=2, last_error=None)
        assert done == replace(expected, finished_at=at(9000), note="fine")
        assert ledger.finalizing.memo(done) is None
        assert claim(ledger, now=at(10**9)) == []
        assert ledger.finalizing.free(at(9000)) == 0

    def test_failed_work_is_tried_again_when_it_was_said(self, ledger: Ledger) -> None:
        over, taken = one_taken(ledger)
        put_back = ledger.finalizing.put_back
        assert put_back(taken, "bad\0 day\ud800\n" + "x" * 5000, at(5000), at(1))
        [found] = owed(ledger, over)
        assert (found.state, found.attempts, found.not_before) == (PENDING, 1, at(5000))
        assert found.last_error is not None
        assert found.last_error.startswith("bad day\ufffd xxx")
        assert len(found.last_error) == 1000
        assert claim(ledger, now=at(4999)) == []
        [again] = claim(ledger, now=at(5000))
        assert (again.attempts, again.finished_at) == (1, None)
        assert put_back(again, "over budget", at(6000), at(1), counted=False)
        assert [each.attempts for each in claim(ledger, now=at(6000))] == [1]
        assert reread(ledger, over).state is State.ENDED
