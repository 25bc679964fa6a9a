"""What every ledger promises when many want the same work at the same moment."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import chain

from sexton.core.session import Session, State
from sexton.finalizers.model import Finalization
from sexton.finalizers.policy import Owing
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_finalizing import reap_it
from tests.contract.ledger_contract_finalizing_samples import (
    DONE,
    LOG,
    MEMORY,
    claim,
    ended,
    owed,
    rule,
    spans,
    told,
)
from tests.contract.ledger_contract_reviving import revive, worker
from tests.contract.ledger_contract_samples import (
    IDLE,
    NOON,
    at,
    enrol,
    entry,
    race,
    reread,
    say,
    seen,
)

ROUNDS = 12
CROWD = 8


def takes_all(ledger: Ledger, keeper: str) -> list[Finalization]:
    """What a keeper gets that asks until nothing is left for it."""
    found: list[Finalization] = []
    while page := claim(ledger, keeper, limit=7):
        found += page
    return found


def finishes(ledger: Ledger, taken: Finalization) -> int:
    return int(ledger.finalizing.finish(taken, "fine", at(9000)))


def frees(ledger: Ledger) -> int:
    return ledger.finalizing.free(at(9000))


def revives(ledger: Ledger, session: Session, heir: str) -> list[Finalization]:
    assert revive(ledger, session, heir)
    return []


class FinalizingRacesContract:
    """Each piece of work is done once, whoever meets."""

    def test_keepers_that_ask_together_get_each_piece_of_work_once(self, ledger: Ledger) -> None:
        rule(ledger, LOG, MEMORY)
        keepers = [enrol(ledger, f"keeper {number}") for number in range(CROWD)]
        for _ in range(4):
            over = [ended(ledger, 4) for _ in range(25)]
            taken = list(chain(*race([partial(takes_all, ledger, each) for each in keepers])))
            assert Counter(each.ref for each in taken).most_common(1)[0][1] == 1
            taken += takes_all(ledger, keepers[0])
            assert {each.session for each in taken} == {each.id for each in over}
            assert len(taken) == 50
            assert {each.claim for each in taken} == {1}

    def test_the_last_two_that_finish_together_finalize_the_session(self, ledger: Ledger) -> None:
        names = [f"{number}" for number in range(4)]
        rule(ledger, *(Owing(name=name) for name in names))
        enrol(ledger, "keeper")
        for _ in range(ROUNDS * 2):
            over = ended(ledger)
            taken = claim(ledger, finalizers=names)
            assert race([partial(finishes, ledger, each) for each in taken]) == [1] * 4
            assert reread(ledger, over).state is State.FINALIZED

    def test_a_keeper_that_wakes_up_and_the_one_that_frees_its_work_agree(
        self, ledger: Ledger
    ) -> None:
        rule(ledger, LOG)
        for turn in range(ROUNDS * 2):
            over = ended(ledger)
            [taken] = claim(ledger, enrol(ledger, f"{turn}"))
            ledger.reaping.declare([(worker(ledger, f"{turn}"), "x: y")], at(1))
            free = [partial(frees, ledger) for _ in range(3)]
            done, *freed = race([partial(finishes, ledger, taken), *free])
            assert done + sum(freed) == 1
            if not done:
                [again] = claim(ledger, enrol(ledger, f"heir {turn}"), now=at(9000))
                assert finishes(ledger, again)
            assert reread(ledger, over).state is State.FINALIZED

    def test_no_word_is_covered_twice_or_never_when_a_session_is_revived_while_work_is_taken(
        self, ledger: Ledger
    ) -> None:
        rule(ledger, LOG)
        enrol(ledger, "keeper")
        for turn in range(ROUNDS * 2):
            begun = told(ledger, 2, f"{turn}", worker=enrol(ledger, f"owner {turn}"))
            reap_it(ledger, begun, IDLE)
            heir = enrol(ledger, f"heir {turn}")
            race([partial(takes_all, ledger, "keeper"), partial(revives, ledger, begun, heir)])
            again = reread(ledger, begun)
            say(ledger, again, "three")
            assert ledger.book.end_now(again, "closed", at(5))
            for taken in [*owed(ledger, begun), *claim(ledger)]:
                ledger.finalizing.finish(taken, "fine", at(9000))
            covered = [each[1:] for each in spans(ledger, begun)]
            assert covered in ([(0, 2, DONE), (2, 3, DONE)], [(0, 3, DONE)])

    def test_many_that_end_a_session_together_owe_once(self, ledger: Ledger) -> None:
        rule(ledger, LOG, MEMORY)
        for turn in range(ROUNDS):
            begun = told(ledger, 4, f"{turn}")
            end = partial(ledger.book.end, seen(begun), IDLE, entry(begun), at(1))
            now = partial(ledger.book.end_now, begun, "closed", at(1))
            assert sum(race([end] * 4 + [now] * 4)) == 1
            assert len(owed(ledger, begun)) == 2

    def test_sessions_are_made_to_owe_once_however_many_ask(self, ledger: Ledger) -> None:
        for turn in range(4):
            for _ in range(20):
                ended(ledger)
            name = f"{turn}"
            rule(ledger, Owing(name=name))
            fill = partial(ledger.backfill.owe, name, NOON, 7, at(9000))
            added = sum(race([fill] * CROWD))
            while more := fill():
                added += more
            assert added == 20 * (turn + 1)
            found = [each.session for each in owed(ledger) if each.finalizer == name]
            assert len(set(found)) == len(found) == added

    def test_a_budget_is_never_exceeded(self, ledger: Ledger) -> None:
        for turn in range(4):
            spend = partial(ledger.finalizing.spend, f"{turn}", NOON.date(), 3, 50)
            assert sum(race([spend] * 32)) == 16
