"""What every ledger promises about the work that a compressed conversation owes."""

from __future__ import annotations

from dataclasses import replace

from sexton.core.message import draft
from sexton.core.session import Relation, Session
from sexton.finalizers.model import FinalizationState, Wanted
from sexton.finalizers.policy import Owing
from sexton.liveness.model import Lost
from sexton.rules.rulebook import Rulebook, digest, encode
from sexton.sessions.compression_store import Shortening
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_compression import TEXTS, shorter, talked
from tests.contract.ledger_contract_samples import NO_RULES, NOON, at, born, enrol, entry, say


class CompressionOwingContract:
    """No message of a compressed conversation is finalized twice, and none is left out."""

    def test_a_compressed_session_owes_nothing_and_the_tip_owes_all_it_holds(
        self, ledger: Ledger
    ) -> None:
        owe(ledger)
        old = talked(ledger)
        child = shorter(ledger, old, head=1, through=4)
        assert spans_of(ledger) == []
        assert ledger.book.end_now(child, "closed", at(70))
        assert spans_of(ledger) == [(child.id, 0, 4, "pending")]

    def test_what_was_covered_in_the_parent_is_not_owed_again(self, ledger: Ledger) -> None:
        for covered, expected in ((1, 1), (2, 2), (3, 2), (4, 3), (5, 4), (6, 5)):
            old = revived(ledger, f"key {covered}", covered)
            child = shorter(ledger, old, head=2, through=4)
            assert spans_of(ledger, child) == [(child.id, 0, expected, "done")]
            say(ledger, child, "new")
            assert ledger.book.end_now(child, "closed", at(70))
            assert (child.id, expected, 6, "pending") in spans_of(ledger, child)
        child = shorter(ledger, revived(ledger, "nothing", 2), head=0)
        assert spans_of(ledger, child) == []

    def test_what_no_summary_tells_is_owed_by_the_session_that_holds_it(
        self, ledger: Ledger
    ) -> None:
        owe(ledger)
        old = talked(ledger)
        child = shorter(ledger, old, head=1, through=4, fallback=True)
        assert spans_of(ledger, old) == [(old.id, 0, 4, "pending")]
        assert spans_of(ledger, child) == [(child.id, 0, 2, "done")]
        say(ledger, child, "g", "h", "i")
        third = shorter(ledger, child, head=0, through=5, fallback=True)
        assert spans_of(ledger, child)[0] == (child.id, 2, 5, "pending")
        assert ledger.book.end_now(third, "closed", at(70))
        assert spans_of(ledger, third) == [(third.id, 1, 3, "pending"), (third.id, 0, 1, "done")]

    def test_what_was_covered_before_it_was_left_untold_is_not_owed_again(
        self, ledger: Ledger
    ) -> None:
        for covered, since in ((2, 2), (3, 3), (4, None), (6, None)):
            old = revived(ledger, f"key {covered}", covered)
            child = shorter(ledger, old, head=1, through=4, fallback=True)
            owed = [each for each in spans_of(ledger, old) if each[3] == "pending"]
            assert owed == ([] if since is None else [(old.id, since, 4, "pending")])
            assert spans_of(ledger, child) == [(child.id, 0, max(2, covered - 2), "done")]

    def test_what_no_summary_told_before_there_was_a_finalizer_is_made_up_for_once(
        self, ledger: Ledger
    ) -> None:
        old = talked(ledger)
        branch = talked(ledger, "branch", parent=old.id, relation=Relation.BRANCH)
        child = shorter(ledger, old, head=1, through=4, fallback=True)
        say(ledger, child, "g", "h", "i")
        third = shorter(ledger, child, head=0, through=5, fallback=True)
        bare = shorter(ledger, talked(ledger, "bare"), head=1, through=6, fallback=True)
        for each in (third, bare, branch):
            assert ledger.book.end_now(each, "closed", at(70))
        owe(ledger)
        assert ledger.backfill.estimate("memory", NOON).sessions == 6
        assert ledger.backfill.owe("memory", NOON, 9, at(80)) == 6
        assert spans_of(ledger, old) == [(old.id, 1, 4, "pending")]
        assert spans_of(ledger, child) == [(child.id, 0, 5, "pending")]
        assert spans_of(ledger, third) == [(third.id, 0, 3, "pending")]
        assert spans_of(ledger, branch) == [(branch.id, 0, 6, "pending")]
        assert spans_of(ledger, bare) == [(bare.id, 0, 2, "pending")]

    def test_what_the_session_that_goes_on_tells_is_not_made_up_for(self, ledger: Ledger) -> None:
        old = talked(ledger)
        child = shorter(ledger, old, head=1, through=4, fallback=True)
        whole = shorter(ledger, talked(ledger, "whole"), head=6, through=6, fallback=True)
        owe(ledger)
        for each in (child, whole):
            assert ledger.book.end_now(each, "closed", at(70))
        assert ledger.backfill.estimate("memory", NOON).sessions == 1
        assert ledger.backfill.owe("memory", NOON, 9, at(80)) == 1
        assert spans_of(ledger, child) == [(child.id, 0, 4, "pending")]
        assert spans_of(ledger, old) == [(old.id, 1, 4, "pending")]
        assert spans_of(ledger, whole) == [(whole.id, 0, 7, "pending")]

    def test_what_ended_before_the_time_asked_for_is_not_made_up_for(self, ledger: Ledger) -> None:
        old = talked(ledger)
        child = shorter(ledger, old, head=1, through=4, fallback=True)
        assert ledger.book.end_now(child, "closed", at(70))
        owe(ledger)
        assert ledger.backfill.owe("memory", at(65), 9, at(80)) == 1
        assert spans_of(ledger, child) == [(child.id, 0, 4, "pending")]
        assert ledger.backfill.owe("memory", NOON, 9, at(80)) == 1
        assert spans_of(ledger, old) == [(old.id, 1, 4, "pending")]

    def test_a_fence_that_fell_leaves_nothing_untold(self, ledger: Ledger) -> None:
        owe(ledger)
        old = talked(ledger)
        wanted = _fallback(replace(old, epoch=2))
        assert ledger.compression.compress(wanted, at(9)) is None
        assert ledger.book.end_now(old, "closed", at(10))
        assert spans_of(ledger, old) == [(old.id, 0, 6, "pending")]

    def test_however_short_a_session_of_a_chain_is_it_owes(self, ledger: Ledger) -> None:
        owe(ledger, 6)
        child = shorter(ledger, talked(ledger), head=0, through=6)
        old = born(ledger, "short")
        say(ledger, old, *TEXTS[:3])
        shorter(ledger, old, head=0, through=2, fallback=True)
        lonely = born(ledger, "lonely")
        say(ledger, lonely, "word")
        for each in (child, lonely):
            assert ledger.book.end_now(each, "closed", at(70))
        assert spans_of(ledger, child) == [(child.id, 0, 1, "pending")]
        assert spans_of(ledger, old) == [(old.id, 0, 2, "pending")]
        assert spans_of(ledger, lonely) == []


def _fallback(old: Session) -> Shortening:
    return Shortening(
        session=old,
        id="never",
        head=1,
        through=4,
        summary=draft("system", "none", {}),
        entries=(),
        fallback=True,
    )


def owe(ledger: Ledger, least: int = 0) -> None:
    """Put a rule in force that owes."""
    text = encode(Rulebook(finalizers=(Owing(name="memory", min_messages=least),)))
    ledger.policies.publish(digest(text), text, "test", NOON)


def spans_of(ledger: Ledger, session: Session | None = None) -> list[tuple[str, int, int, str]]:
    wanted = Wanted(session=None if session is None else session.id)
    found = ledger.finalizing.page(wanted, None, 100)
    return [(each.session, each.since, each.through, each.state.value) for each in found]


def revived(ledger: Ledger, key: str, covered: int) -> Session:
    """A session that was reaped after some messages, finalized, revived, and went on."""
    owe(ledger)
    old = born(ledger, key)
    say(ledger, old, *TEXTS[:covered])
    assert ledger.book.end_now(old, "reaped:test", at(20))
    [owed] = ledger.finalizing.page(Wanted(session=old.id), None, 9)
    assert ledger.finalizing.decide(owed.ref, FinalizationState.DONE, at(21))
    lost = Lost(ref=old.ref, worker=enrol(ledger, key), schedule=NO_RULES, entry=entry(old))
    [revived] = ledger.reaping.revive([lost], at(22))
    say(ledger, revived, *TEXTS[covered:])
    return revived
