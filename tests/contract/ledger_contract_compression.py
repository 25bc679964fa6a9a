"""What every ledger promises about a conversation that goes on in a shorter session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import chain, count
from typing import Any

from sexton.core.message import draft
from sexton.core.schedule import Schedule
from sexton.core.session import Limit, Relation, Session, State
from sexton.sessions.compression_store import Shortening
from sexton.sessions.model import Appended, Filter
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_samples import (
    NO_RULES,
    NOON,
    at,
    born,
    enrol,
    entry,
    everything,
    heard,
    holders,
    journal,
    race,
    reread,
    say,
    seen,
)

ROUNDS = 12
_numbers = count(1)
TEXTS = ["a", "bb", "ccc", "dddd", "eeeee", "ffffff"]


class CompressionContract:
    """One conversation in several sessions: nothing lost, nobody left behind."""

    def test_the_middle_gives_way_to_a_summary_and_the_rest_is_copied(self, ledger: Ledger) -> None:
        old = born(ledger)
        for second, text in enumerate(TEXTS):
            say(ledger, old, text, now=at(second))
        other = born(ledger, "other")
        say(ledger, other, "else")
        child = shorter(ledger, old, head=1, through=4)
        assert [(each.seq, each.content, each.at) for each in heard(ledger, child)] == [
            (1, "a", NOON),
            (2, "summary", at(60)),
            (3, "eeeee", at(4)),
            (4, "ffffff", at(5)),
        ]
        assert [each.content for each in heard(ledger, old)] == TEXTS
        assert (child.message_count, child.byte_count) == (4, 1 + 7 + 5 + 6 + len(b'{"n":1}'))
        assert say(ledger, child, "next", now=at(61)) == Appended(5)
        assert [each.content for each in heard(ledger, other)] == ["else"]

    def test_the_child_is_the_same_conversation(self, ledger: Ledger) -> None:
        old = _lively(ledger)
        child = shorter(ledger, old, head=1, through=4)
        assert child == replace(
            reread(ledger, old),
            ref=child.ref,
            id=child.id,
            parent=old.id,
            relation=Relation.COMPRESSION,
            state=State.OPEN,
            ended_at=None,
            end_reason=None,
            message_count=4,
            byte_count=child.byte_count,
            warned=Limit.TURNS,
            holders=old.holders,
        )
        assert (child.active_at, child.turn_count, child.pinned) == (at(5), 2, True)
        assert ledger.book.current("talk") == child == reread(ledger, child)

    def test_the_parent_ends_and_both_are_in_the_journal(self, ledger: Ledger) -> None:
        old = talked(ledger, worker=enrol(ledger, "anna"))
        child = shorter(ledger, old)
        ended = reread(ledger, old)
        assert (ended.state, ended.end_reason, ended.ended_at) == ("ended", "compression", at(60))
        assert (ended.message_count, holders(ended)) == (6, [])
        assert [line.at for line in journal(ledger, old)] == [at(60)]
        assert [line.at for line in journal(ledger, child)] == [at(60)]

    def test_holders_and_their_running_turns_go_on_in_the_child(self, ledger: Ledger) -> None:
        anna, berta = enrol(ledger, "anna"), enrol(ledger, "berta")
        old = talked(ledger, worker=anna)
        assert ledger.book.join(old, berta, (), at(1))
        other = born(ledger, "other", worker=anna)
        assert ledger.book.start_turn(old, berta, NO_RULES, at(2))
        assert ledger.book.start_turn(other, anna, NO_RULES, at(2))
        child = shorter(ledger, old)
        assert [(each.worker.id, each.busy_since) for each in child.holders] == [
            ("anna", None),
            ("berta", at(2)),
        ]
        finish = ledger.book.finish_turn
        assert [finish(old, berta, False), finish(child, anna, False)] == [False, False]
        assert reread(ledger, child) == child
        assert [finish(child, berta, failed) for failed in (False, True)] == [True, False]
        now = reread(ledger, child)
        assert ([each.busy_since for each in now.holders], now.errored) == ([None, None], True)
        assert reread(ledger, other).holders[0].busy_since == at(2)

    def test_a_fence_that_fell_or_an_end_before_changes_nothing(self, ledger: Ledger) -> None:
        old = talked(ledger, worker=enrol(ledger, "anna"))
        before = everything(ledger)
        for epoch in (0, 2):
            assert ledger.compression.compress(wanted(replace(old, epoch=epoch)), at(9)) is None
        assert (everything(ledger), journal(ledger)) == (before, [])
        assert ledger.book.end_now(old, "closed", at(10))
        before = everything(ledger)
        assert ledger.compression.compress(wanted(old), at(11)) is None
        assert (everything(ledger), journal(ledger)) == (before, [])

    def test_whoever_lost_the_parent_has_lost_the_child(self, ledger: Ledger) -> None:
        lost = talked(ledger, worker=enrol(ledger, "anna"))
        adopted = ledger.book.join(lost, enrol(ledger, "berta"), ("anna",), at(7))
        assert adopted is not None
        child = shorter(ledger, adopted)
        assert child.epoch == 2
        assert say(ledger, replace(child, epoch=1), "from the grave") is None

    def test_a_chain_is_read_from_its_first_message_to_its_last(self, ledger: Ledger) -> None:
        old = talked(ledger)
        child = shorter(ledger, old, head=1, through=4)
        say(ledger, child, "g", "h")
        third = shorter(ledger, child, head=0, through=5)
        say(ledger, third, "i")
        assert _history(ledger, third) == [*TEXTS, "g", "h", "i"]
        assert _history(ledger, child) == [*TEXTS, "g", "h"]
        assert _history(ledger, old) == TEXTS
        assert _history(ledger, born(ledger, "other", parent=old.id, relation=Relation.FORK)) == []

    def test_a_chain_whose_beginning_is_unknown_begins_with_its_copies(
        self, ledger: Ledger
    ) -> None:
        orphan = born(ledger, parent="nobody", relation=Relation.COMPRESSION)
        say(ledger, orphan, *TEXTS)
        assert _history(ledger, orphan) == TEXTS

    def test_the_tip_is_the_newest_session_of_the_chain(self, ledger: Ledger) -> None:
        old = talked(ledger, worker=enrol(ledger, "anna"))
        branch = born(ledger, "branch", parent=old.id, relation=Relation.BRANCH)
        assert ledger.compression.tip(old.ref) is None
        child = shorter(ledger, old)
        assert ledger.compression.tip(old.ref) == child
        third = shorter(ledger, child, head=0, through=2)
        assert ledger.compression.tip(old.ref) == ledger.compression.tip(child.ref) == third
        assert ledger.compression.tip(third.ref) is ledger.compression.tip(branch.ref) is None

    def test_a_pin_is_for_the_whole_conversation_and_a_title_for_its_newest_session(
        self, ledger: Ledger
    ) -> None:
        old, other = talked(ledger), born(ledger, "other")
        branch = born(ledger, "branch", parent=old.id, relation=Relation.BRANCH)
        child = shorter(ledger, old)
        tip = shorter(ledger, child, head=0, through=2)
        mark = ledger.book.mark
        for given in (tip, old, child):
            for pinned in (True, False):
                assert mark(given.ref, pinned=pinned, epoch=tip.epoch)
                talk = [reread(ledger, each).pinned for each in (old, child, tip)]
                assert talk == [pinned] * 3
            assert not mark(given.ref, pinned=True, title="Old", epoch=tip.epoch + 1)
        assert mark(old.ref, title="New")
        assert [reread(ledger, each).title for each in (old, tip)] == [None, "New"]
        assert mark(branch.ref, pinned=True)
        assert [reread(ledger, each).pinned for each in (old, other)] == [False, False]

    def test_a_pin_that_comes_with_a_compression_is_where_the_conversation_goes_on(
        self, ledger: Ledger
    ) -> None:
        for turn in range(ROUNDS):
            old = talked(ledger, f"{turn}")
            mark = partial(ledger.book.mark, old.ref, pinned=True, epoch=old.epoch)
            compress = partial(ledger.compression.compress, wanted(old), at(9))
            jobs: list[Callable[[], object]] = [mark, mark, mark, compress, mark, mark, mark]
            race(jobs)
            tip = ledger.compression.tip(old.ref)
            assert tip is not None
            assert tip.pinned

    def test_a_chain_is_listed_as_one_conversation_where_that_is_wanted(
        self, ledger: Ledger
    ) -> None:
        old, other = talked(ledger), born(ledger, "other")
        born(ledger, "branch", parent=other.id, relation=Relation.BRANCH)
        assert ledger.book.end_now(other, "compression", at(1)), "by somebody else's hand"
        tip = shorter(ledger, shorter(ledger, old), head=0, through=2)
        folded = ledger.index.page(Filter(folded=True), None, 9)
        assert {each.key for each in folded} == {"talk", "other", "branch"}
        assert [each.id for each in folded if each.key == "talk"] == [tip.id]
        assert len(ledger.index.page(Filter(), None, 9)) == 5

    def test_a_session_rests_after_a_summary_failed(self, ledger: Ledger) -> None:
        old, other = talked(ledger), born(ledger, "other")
        assert ledger.compression.readiness(old) == (None,)
        assert ledger.compression.rest(old, at(60), entry(old), at(1)) is True
        assert ledger.compression.readiness(old) == (at(60),)
        assert ledger.compression.readiness(other) == (None,)
        assert [line.at for line in journal(ledger)] == [at(1)]
        child = shorter(ledger, old)
        assert ledger.compression.readiness(child) == (None,)

    def test_what_has_ended_or_was_taken_over_neither_rests_nor_is_ready(
        self, ledger: Ledger
    ) -> None:
        old = talked(ledger)
        fenced = replace(old, epoch=2)
        assert ledger.compression.rest(fenced, at(60), entry(old), at(1)) is False
        assert ledger.compression.readiness(fenced) is None
        assert ledger.compression.readiness(old) == (None,)
        assert ledger.book.end_now(old, "closed", at(2))
        assert ledger.compression.rest(old, at(60), entry(old), at(3)) is False
        assert ledger.compression.readiness(old) is None
        assert journal(ledger) == []

    def test_a_session_is_compressed_once_and_nothing_said_meanwhile_is_lost(
        self, ledger: Ledger
    ) -> None:
        for turn in range(ROUNDS):
            old = talked(ledger, f"{turn}")
            talkers = [partial(_say_until_refused, ledger, old, f"{n}") for n in range(4)]
            shorten = ledger.compression.compress
            jobs: list[Any] = [*talkers, *(partial(shorten, wanted(old), at(9)) for _ in range(3))]
            said = race(jobs)
            [child] = filter(None, said[4:])
            assert child == ledger.compression.tip(old.ref)
            found = [each.content for each in heard(ledger, old)]
            assert sorted(found) == sorted([*TEXTS, *chain(*said[:4])])
            copies = [each.content for each in heard(ledger, child)]
            assert copies == [*TEXTS[:1], "summary", *found[4:]]
            assert child.message_count == len(copies)
            assert say(ledger, child, "next") == Appended(len(copies) + 1)


def shorter(
    ledger: Ledger, old: Session, head: int = 1, through: int = 4, *, fallback: bool = False
) -> Session:
    """The child of a session whose messages after `head` up to `through` are summarised."""
    shortening = replace(wanted(old, head, through), fallback=fallback)
    child = ledger.compression.compress(shortening, at(60))
    assert child is not None
    return child


def wanted(old: Session, head: int = 1, through: int = 4) -> Shortening:
    """A compression that may be asked for."""
    id = f"after {old.id} {next(_numbers)}"
    return Shortening(
        session=old,
        id=id,
        head=head,
        through=through,
        summary=draft("system", "summary", {"n": 1}),
        entries=(entry(old), entry(replace(old, id=id))),
    )


def talked(ledger: Ledger, key: str = "talk", **facts: Any) -> Session:
    begun = born(ledger, key, **facts)
    say(ledger, begun, *TEXTS)
    return begun


def _lively(ledger: Ledger) -> Session:
    """A session of which every fact is worth keeping."""
    facts: dict[str, Any] = {"chat_type": "group", "job": "nightly", "title": "Plans"}
    old = born(ledger, worker=enrol(ledger, "anna"), schedule=Schedule(3, at=at(99)), **facts)
    say(ledger, old, *TEXTS, now=at(5), schedule=Schedule(3, at=at(99)))
    for _ in range(2):
        assert ledger.book.start_turn(old, "anna", NO_RULES, at(6))
    ledger.book.finish_turn(old, "anna", failed=True)
    assert ledger.book.mark(old.ref, pinned=True)
    for limit in (Limit.MESSAGES, Limit.TURNS):
        assert ledger.index.warn(seen(reread(ledger, old)), limit, entry(old), at(7))
    return reread(ledger, old)


def _history(ledger: Ledger, session: Session) -> list[Any]:
    found = []
    for ref, after in ledger.compression.chain(session.ref):
        found += [each.content for each in ledger.messages.page(ref, after, 1_000_000)]
    return found


def _say_until_refused(ledger: Ledger, session: Session, name: str) -> list[str]:
    said: list[str] = []
    for number in range(1_000):
        if say(ledger, session, f"{name} {number}") is None:
            break
        said.append(f"{name} {number}")
    return said
