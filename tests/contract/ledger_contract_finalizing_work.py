"""What every ledger promises about how the work that is owed ends."""

from __future__ import annotations

from datetime import timedelta

from sexton.core.session import State
from sexton.finalizers.model import Finalization, FinalizationState, Wanted
from sexton.finalizers.policy import Owing
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_finalizing import end_now, reap_it
from tests.contract.ledger_contract_finalizing_claims import finishes
from tests.contract.ledger_contract_finalizing_foreign import attached, foreign
from tests.contract.ledger_contract_finalizing_samples import (
    DEAD,
    DONE,
    LOG,
    MEMORY,
    PENDING,
    claim,
    ended,
    one_taken,
    owed,
    rule,
    spans,
    told,
)
from tests.contract.ledger_contract_reviving import revive, worker
from tests.contract.ledger_contract_samples import (
    ALL,
    IDLE,
    NOON,
    at,
    birth,
    enrol,
    entry,
    journal,
    observe,
    reread,
    say,
)

DAY = timedelta(days=1)


class OutcomesContract:
    """How work ends, and what a person may decide about it."""

    def test_a_session_is_finalized_with_the_last_of_its_work(self, ledger: Ledger) -> None:
        earlier = ended(ledger, 4)
        rule(ledger, LOG, MEMORY, Owing(name="third"))
        enrol(ledger, "keeper")
        over = ended(ledger, 4)
        first, second, third = claim(ledger, finalizers=["log", "memory", "third"])
        other = ended(ledger, 4)
        assert finishes(ledger, first)
        assert reread(ledger, over).state is State.ENDED
        assert ledger.finalizing.put_back(second, "no", at(9000), at(1))
        assert finishes(ledger, third)
        assert reread(ledger, over).state is State.ENDED
        found = claim(ledger, finalizers=[second.finalizer], now=at(9000))
        [again] = [each for each in found if each.session == over.id]
        assert ledger.finalizing.put_back(again, "never", None, at(1))
        assert reread(ledger, over).state is State.FINALIZED
        assert reread(ledger, over).ended_at == at(1)
        assert {reread(ledger, each).state for each in (earlier, other)} == {State.ENDED}
        assert [each.state for each in owed(ledger, over)] == [DONE, DEAD, DONE]

    def test_an_open_session_stays_open_when_its_work_is_done(self, ledger: Ledger) -> None:
        rule(ledger, LOG)
        enrol(ledger, "keeper")
        begun = told(ledger, 2, "talk", worker=enrol(ledger, "owner"))
        reap_it(ledger, begun, IDLE)
        [taken] = claim(ledger)
        assert revive(ledger, begun, enrol(ledger, "heir"))
        assert finishes(ledger, taken)
        assert reread(ledger, begun).is_open

    def test_the_dead_are_tried_again_when_a_person_says_so(self, ledger: Ledger) -> None:
        over, lost = one_taken(ledger)
        ledger.reaping.declare([(worker(ledger, "keeper"), "x: y")], at(1))
        assert ledger.finalizing.free(at(3600)) == 1
        [taken] = claim(ledger, enrol(ledger, "next"))
        assert (taken.ref, taken.crashes) == (lost.ref, 1)
        assert ledger.finalizing.memoise(taken, b"answer")
        decide = ledger.finalizing.decide
        assert not decide(taken.ref, PENDING, at(1)), "it runs"
        assert ledger.finalizing.put_back(taken, "no", None, at(1))
        ended(ledger)
        [other] = [each for each in owed(ledger) if each.session != over.id]
        assert not decide(other.ref, PENDING, at(1)), "it is pending already"
        noted = entry(over, action="retry")
        assert decide(taken.ref, PENDING, at(9000), noted)
        assert not decide(taken.ref, PENDING, at(9000), noted)
        assert not decide(10**6, PENDING, at(9000), noted)
        assert [each.action for each in journal(ledger, over)] == ["retry"]
        assert reread(ledger, over).state is State.ENDED, "something is left to do"
        [again] = [each for each in claim(ledger, "next", now=at(9000)) if each.session == over.id]
        assert (again.attempts, again.crashes, again.finished_at) == (0, 0, None)
        assert ledger.finalizing.memo(again) == b"answer"
        assert finishes(ledger, again)
        assert not decide(taken.ref, PENDING, at(1)), "it is done"

    def test_a_person_can_let_off_what_is_not_running(self, ledger: Ledger) -> None:
        over, taken = one_taken(ledger)
        waiting = ended(ledger)
        decide = ledger.finalizing.decide
        assert not decide(taken.ref, DONE, at(9000)), "it runs"
        assert ledger.finalizing.memoise(taken, b"answer")
        assert ledger.finalizing.put_back(taken, "no", None, at(1))
        [other] = owed(ledger, waiting)
        for ref, session in ((taken.ref, over), (other.ref, waiting)):
            assert decide(ref, DONE, at(9000), entry(session, action="discard"))
            assert not decide(ref, DONE, at(9000))
            assert reread(ledger, session).state is State.FINALIZED
            [done] = owed(ledger, session)
            assert (done.state, done.finished_at) == (DONE, at(9000))
            assert ledger.finalizing.memo(done) is None
            assert len(journal(ledger, session)) == 1
        assert claim(ledger, now=at(9999)) == []

    def test_old_work_that_later_work_supersedes_is_forgotten_and_never_the_latest(
        self, ledger: Ledger
    ) -> None:
        rule(ledger, LOG, Owing(name="other"))
        enrol(ledger, "keeper")
        home = attached(ledger)

        def do(count: int, days: int, *, well: bool = True) -> None:
            """End the sessions again after so many messages, and do what they owe."""
            now = NOON + days * DAY
            observe(ledger, home, foreign("a", count, days * 86400))
            for taken in claim(ledger, finalizers=("log", "other"), now=now):
                if well:
                    assert ledger.finalizing.finish(taken, "fine", now)
                else:
                    assert ledger.finalizing.put_back(taken, "no", None, at(1))

        def kept(id: str, finalizer: str = "log") -> list[tuple[int, FinalizationState]]:
            [session] = ledger.index.find("there", id)
            return [each[2:] for each in spans(ledger, session) if each[0] == finalizer]

        observe(ledger, home, foreign("b", 1, 1))
        for count, days in ((1, 1), (2, 2), (3, 3), (4, 91)):
            do(count, days, well=days != 2)
        assert kept("a") == [(1, DONE), (2, DEAD), (3, DONE), (4, DONE)]
        do(5, 93)
        assert kept("a") == [(2, DEAD), (3, DONE), (4, DONE), (5, DONE)]
        [dead, _] = [each for each in owed(ledger) if each.state is DEAD]
        assert dead.finalizer == "log"
        assert ledger.finalizing.decide(dead.ref, PENDING, NOON + 300 * DAY)
        do(5, 300)
        assert kept("a") == [(2, DONE), (3, DONE), (4, DONE), (5, DONE)]
        rule(ledger, LOG)
        do(6, 301)
        assert kept("a") == [(2, DONE), (6, DONE)]
        assert kept("a", "other") == [(2, DEAD), (3, DONE), (4, DONE), (5, DONE)]
        assert kept("b") == kept("b", "other") == [(1, DONE)]


class LookingContract:
    """What is owed can be looked at, and made up for."""

    def test_pages_are_newest_first_and_of_what_was_asked_for(self, ledger: Ledger) -> None:
        rule(ledger, LOG, MEMORY)
        enrol(ledger, "keeper")
        mine = [ended(ledger, 4, second) for second in range(3)]
        home = attached(ledger)
        observe(ledger, home, foreign(mine[0].id, 4, 9), foreign("other", 2, 9))
        finishes(ledger, claim(ledger, limit=1)[0])
        all = ledger.finalizing.page(Wanted(), None, ALL)
        assert len(all) == 9
        assert [each.ref for each in all] == sorted((each.ref for each in all), reverse=True)
        walked: list[Finalization] = []
        while page := ledger.finalizing.page(Wanted(), walked[-1].ref if walked else None, 2):
            assert not walked or page[0].ref < walked[-1].ref
            walked += page
        assert walked == all
        for wanted in (
            Wanted(state=PENDING),
            Wanted(state=DONE),
            Wanted(state=DEAD),
            Wanted(finalizer="memory"),
            Wanted(home="there"),
            Wanted(session=mine[0].id),
            Wanted(session=mine[0].id, home="native"),
            Wanted(session=mine[0].id, state=DONE),
            Wanted(session=mine[0].id, finalizer="memory"),
            Wanted(state=PENDING, home="native"),
            Wanted(state=PENDING, finalizer="log"),
            Wanted(finalizer="log", home="native"),
        ):
            expected = [each for each in all if _fits(each, wanted)]
            assert ledger.finalizing.page(wanted, None, ALL) == expected
            if expected:
                rest = ledger.finalizing.page(wanted, expected[0].ref, ALL)
                assert rest == expected[1:]
                assert ledger.finalizing.page(wanted, None, 1) == expected[:1]

    def test_sessions_that_ended_before_can_be_made_to_owe(self, ledger: Ledger) -> None:
        old = [ended(ledger, 4, second) for second in (5, 3, 4, 2)]
        ended(ledger, 3, 9)
        ended(ledger, 4, 9, source="cron")
        compressed = told(ledger, 4)
        ledger.book.end_now(compressed, "compression", at(9))
        told(ledger, 4)
        rule(ledger, LOG, MEMORY)
        enrol(ledger, "keeper")
        recent = ended(ledger, 4, 9)
        before = owed(ledger)
        owe, estimate = ledger.backfill.owe, ledger.backfill.estimate
        assert estimate("memory", at(3)).sessions == 3
        assert owed(ledger) == before
        assert owe("memory", at(3), 2, at(100)) == 2
        assert [spans(ledger, each) for each in old] == [
            [], [("memory", 0, 4, PENDING)], [("memory", 0, 4, PENDING)], [],
        ]  # fmt: skip
        assert estimate("memory", at(3)).sessions == 1
        assert [owe("memory", at(3), 2, at(100)) for _ in range(2)] == [1, 0]
        assert owe("unheard of", at(0), 9, at(100)) == 0
        assert len(owed(ledger, recent)) == 2
        assert {(each.owed_at, each.not_before) for each in owed(ledger, old[0])} == {
            (at(100), at(100))
        }
        assert len(claim(ledger, now=at(99))) == 2
        assert len(claim(ledger, now=at(100))) == 3

    def test_a_finalized_session_that_is_made_to_owe_has_something_left_to_do(
        self, ledger: Ledger
    ) -> None:
        over, taken = one_taken(ledger)
        assert finishes(ledger, taken)
        rule(ledger, LOG, Owing(name="new"))
        assert reread(ledger, over).state is State.FINALIZED
        assert ledger.backfill.owe("new", NOON, 9, at(9001)) == 1
        assert reread(ledger, over).state is State.ENDED
        [other] = claim(ledger, finalizers=["new"], now=at(9001))
        assert finishes(ledger, other)
        assert reread(ledger, over).state is State.FINALIZED

    def test_a_session_without_a_word_is_not_made_up_for(self, ledger: Ledger) -> None:
        from_nothing = told(ledger, 1)
        end_now(ledger, from_nothing, IDLE)
        silent = ledger.book.begin(birth("silent"), NOON)
        assert silent is not None
        end_now(ledger, silent, IDLE)
        rule(ledger, LOG)
        assert ledger.backfill.estimate("log", NOON).sessions == 1
        assert ledger.backfill.owe("log", NOON, 9, at(2)) == 1
        assert owed(ledger, silent) == []

    def test_what_is_done_is_not_made_up_for(self, ledger: Ledger) -> None:
        over, taken = one_taken(ledger)
        assert finishes(ledger, taken)
        assert reread(ledger, over).state is State.FINALIZED
        assert ledger.backfill.owe("log", NOON, 9, at(2)) == 0

    def test_a_budget_is_of_one_finalizer_and_one_day(self, ledger: Ledger) -> None:
        spend, day = ledger.finalizing.spend, NOON.date()
        assert not spend("log", day, 6, 5)
        assert [spend("log", day, 2, 5) for _ in range(3)] == [True, True, False]
        assert [spend("log", day, 1, 5) for _ in range(2)] == [True, False]
        assert spend("memory", day, 5, 5)
        assert spend("log", day + DAY, 5, 5)
        assert spend("log", day + 90 * DAY, 1, 5)
        assert not spend("log", day, 1, 5), "it is remembered for long enough"
        assert spend("log", day + 91 * DAY, 1, 5)
        assert spend("log", day, 5, 5), "and not for ever"

    def test_what_is_said_in_a_session_costs_no_work(self, ledger: Ledger) -> None:
        rule(ledger, LOG)
        begun = told(ledger, 3)
        say(ledger, begun, "more")
        assert owed(ledger) == []


def _fits(found: Finalization, wanted: Wanted) -> bool:
    return (
        wanted.state in (None, found.state)
        and wanted.finalizer in (None, found.finalizer)
        and wanted.home in (None, found.home)
        and wanted.session in (None, found.session)
    )
