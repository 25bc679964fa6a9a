"""What every ledger promises about the work that an ended session owes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product

from sexton.core.plan import Reason
from sexton.core.session import Session, State
from sexton.finalizers.policy import Owing
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_finalizing_foreign import attached, foreign
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
from tests.contract.ledger_contract_reviving import reap, reap_of, revive
from tests.contract.ledger_contract_samples import (
    IDLE,
    NOON,
    at,
    birth,
    enrol,
    entry,
    observe,
    reread,
    say,
    seen,
)

COMPRESSED = Reason("compression", "it grew too long")


def end_as_seen(ledger: Ledger, begun: Session, reason: Reason) -> None:
    assert ledger.book.end(seen(begun), reason, entry(begun), at(1))


def end_now(ledger: Ledger, begun: Session, reason: Reason) -> None:
    assert ledger.book.end_now(begun, reason.code, at(1))


def replace_by_next(ledger: Ledger, begun: Session, reason: Reason) -> None:
    assert ledger.book.replace(begun, reason, birth(begun.key), entry(begun), at(1))


def leave(ledger: Ledger, begun: Session, _: Reason) -> None:
    [holder] = begun.holders
    assert ledger.book.leave(holder.worker.id, ("chat",), at(1))


def reap_it(ledger: Ledger, begun: Session, _: Reason) -> None:
    assert reap(ledger, reap_of(begun)) == [True]


ENDS: tuple[Callable[[Ledger, Session, Reason], None], ...] = (
    end_as_seen,
    end_now,
    replace_by_next,
    leave,
    reap_it,
)


class OwingContract:
    """Whatever ends a session owes what the rules say, and nothing else does."""

    def test_every_way_to_end_a_session_owes_its_finalizers_together_with_the_end(
        self, ledger: Ledger
    ) -> None:
        rule(ledger, LOG, MEMORY)
        for number, way in enumerate(ENDS):
            begun = told(ledger, 4, f"{number}", worker=enrol(ledger, f"owner{number}"))
            assert owed(ledger, begun) == []
            way(ledger, begun, IDLE)
            assert spans(ledger, begun) == [("log", 0, 4, PENDING), ("memory", 0, 4, PENDING)]
            over = reread(ledger, begun)
            assert {(each.owed_at, each.not_before) for each in owed(ledger, begun)} == {
                (over.ended_at, over.ended_at)
            }

    def test_an_end_that_did_not_happen_owes_nothing(self, ledger: Ledger) -> None:
        rule(ledger, LOG)
        begun = told(ledger, 4, "talk")
        assert not ledger.book.end(seen(begun, turn_count=7), IDLE, entry(begun), at(1))
        assert not ledger.book.end_now(replace(begun, epoch=7), "closed", at(1))
        taken = birth(begun.key, id=begun.id)
        assert ledger.book.replace(begun, IDLE, taken, entry(begun), at(1)) is None
        assert owed(ledger) == []

    def test_a_compressed_session_owes_nothing(self, ledger: Ledger) -> None:
        rule(ledger, LOG)
        for number, way in enumerate(ENDS[:3]):
            way(ledger, told(ledger, 4, f"{number}"), COMPRESSED)
        observe(ledger, attached(ledger), foreign("a", 4, 1, end_reason="compression"))
        assert owed(ledger) == []

    def test_without_finalizers_nothing_is_owed(self, ledger: Ledger) -> None:
        ended(ledger)
        rule(ledger, LOG)
        rule(ledger)
        ended(ledger)
        assert owed(ledger) == []

    def test_what_had_ended_before_a_finalizer_was_there_owes_it_nothing(
        self, ledger: Ledger
    ) -> None:
        before = ended(ledger)
        rule(ledger, LOG)
        after = ended(ledger)
        rule(ledger, LOG, Owing(name="new"))
        assert (spans(ledger, before), spans(ledger, after)) == ([], [("log", 0, 1, PENDING)])

    def test_the_ledger_owes_what_the_rules_say(self, ledger: Ledger) -> None:
        owings = [
            Owing(name=f"{number}", sources=sources, spared=spared, min_messages=least)
            for number, (sources, spared, least) in enumerate(
                product(
                    ((), ("cron",), ("cron", "cli"), ("*",)),
                    ((), ("cron",), ("cli", "chat")),
                    (0, 1, 4),
                )
            )
        ]
        rule(ledger, *owings)
        for source, count in product(("cron", "cli", "chat"), (0, 1, 3, 4, 5)):
            begun = told(ledger, count, source=source) if count else ended_empty(ledger, source)
            if count:
                end_now(ledger, begun, IDLE)
            expected = {
                each.name
                for each in owings
                if each.includes(source) and count >= max(each.min_messages, 1)
            }
            assert {each.finalizer for each in owed(ledger, begun)} == expected

    def test_a_revived_session_owes_nothing_until_it_ends_again(self, ledger: Ledger) -> None:
        rule(ledger, LOG)
        begun = told(ledger, 2, "talk", worker=enrol(ledger, "owner"))
        other = ended(ledger)
        reap_it(ledger, begun, IDLE)
        again = revive(ledger, begun, enrol(ledger, "heir"))
        assert again is not None
        assert spans(ledger, begun) == []
        assert spans(ledger, other) == [("log", 0, 1, PENDING)]
        say(ledger, again, "more")
        end_now(ledger, again, IDLE)
        assert spans(ledger, begun) == [("log", 0, 3, PENDING)]

    def test_a_session_that_ends_again_owes_only_what_follows(self, ledger: Ledger) -> None:
        rule(ledger, LOG, MEMORY)
        enrol(ledger, "keeper")
        begun = told(ledger, 4, "talk", worker=enrol(ledger, "owner"))
        reap_it(ledger, begun, IDLE)
        for taken in claim(ledger, finalizers=["log"]):
            assert ledger.finalizing.finish(taken, "fine", at(3601))
        again = revive(ledger, begun, enrol(ledger, "heir"))
        assert again is not None
        say(ledger, again, "five")
        end_now(ledger, again, IDLE)
        assert spans(ledger, begun) == [
            ("log", 0, 4, DONE),
            ("log", 4, 5, PENDING),
            ("memory", 0, 5, PENDING),
        ]

    def test_what_was_begun_survives_a_revival_and_is_not_owed_twice(self, ledger: Ledger) -> None:
        rule(ledger, LOG)
        enrol(ledger, "keeper")
        for number, fate in enumerate((RUNNING, PENDING, DEAD)):
            begun = told(ledger, 2, f"{number}", worker=enrol(ledger, f"owner {number}"))
            reap_it(ledger, begun, IDLE)
            [taken] = claim(ledger)
            if fate is not RUNNING:
                later = at(9999) if fate is PENDING else None
                assert ledger.finalizing.put_back(taken, "no", later, at(1))
            again = revive(ledger, begun, enrol(ledger, f"heir {number}"))
            assert again is not None
            assert spans(ledger, begun) == [("log", 0, 2, fate)]
            end_now(ledger, again, IDLE)
            assert spans(ledger, begun) == [("log", 0, 2, fate)], "nothing new was said"

    def test_a_finalized_session_can_be_revived(self, ledger: Ledger) -> None:
        begun, taken = one_taken(ledger, key="talk")
        end_reaped = told(ledger, 1, "reaped", worker=enrol(ledger, "owner"))
        reap_it(ledger, end_reaped, IDLE)
        assert ledger.finalizing.finish(taken, "fine", at(1))
        [other] = claim(ledger)
        assert ledger.finalizing.finish(other, "fine", at(1))
        assert reread(ledger, end_reaped).state is State.FINALIZED
        assert revive(ledger, begun, enrol(ledger, "heir")) is None, "it was not reaped"
        again = revive(ledger, end_reaped, "heir")
        assert again is not None
        assert again.is_open


def ended_empty(ledger: Ledger, source: str) -> Session:
    """A session that ended without a word."""
    begun = ledger.book.begin(birth(None, source=source), NOON)
    assert begun is not None
    end_now(ledger, replace(begun), IDLE)
    return begun
