"""What every ledger promises to whoever holds a session while the ledger is set back.

After a restore or a failover that lost commits, the ledger counts on from an earlier state. What a
handle or a plan remembers must then find its own session or none, never somebody else's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sexton.core.message import draft
from sexton.core.record import replace
from sexton.core.schedule import Schedule
from sexton.core.session import Limit, Session
from sexton.errors import SessionRewound
from sexton.liveness.model import Lost
from sexton.sessions.model import Batch, WorkerUnknown
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_compression import wanted
from tests.contract.ledger_contract_finalizing_samples import one_taken, owed
from tests.contract.ledger_contract_processes import sample
from tests.contract.ledger_contract_reviving import reap, reap_of
from tests.contract.ledger_contract_samples import (
    ALL,
    IDLE,
    NO_RULES,
    NOON,
    at,
    birth,
    born,
    enrol,
    entry,
    everything,
    heard,
    journal,
    reread,
    say,
    seen,
)

RANDOM_BITS = 28
NEWER = Schedule(1)


class IdentityContract:
    """A session is meant by its number, its id and its epoch; a number is given once."""

    def test_numbers_rise_and_end_in_random_bits(self, ledger: Ledger) -> None:
        numbers = [born(ledger, f"{turn}").ref for turn in range(8)]
        begins = [number >> RANDOM_BITS for number in numbers]
        assert begins == list(range(begins[0], begins[0] + 8))
        assert len({number % (1 << RANDOM_BITS) for number in numbers}) > 1

    def test_a_child_has_a_higher_number_than_its_parent(self, ledger: Ledger) -> None:
        old = _talked(ledger)
        child = ledger.compression.compress(wanted(old), at(1))
        assert child is not None
        assert child.ref > old.ref

    def test_whoever_means_another_session_of_that_number_changes_nothing(
        self, ledger: Ledger
    ) -> None:
        begun = _talked(ledger, worker=enrol(ledger, "anna"))
        before, enrolled = reread(ledger, begun), enrol(ledger, "berta")
        other = replace(before, id="another")
        attempts: list[Callable[[], object]] = [
            lambda: say(ledger, other, "to another"),
            lambda: ledger.book.join(other, enrolled, (), at(1)),
            lambda: ledger.book.start_turn(other, "anna", NO_RULES, at(1)),
            lambda: ledger.book.end(seen(other), IDLE, entry(other), at(1)),
            lambda: ledger.book.end_now(other, "closed", at(1), entry(other)),
            lambda: ledger.book.replace(other, IDLE, birth(), entry(other), at(1)),
            lambda: ledger.index.warn(seen(other), Limit.AGE, entry(other), at(1)),
            lambda: ledger.index.reschedule([(other, Schedule(0, at=at(9)))]),
            lambda: ledger.reaping.occupy(other, "anna", at(1)),
            lambda: any(reap(ledger, reap_of(other))),
            lambda: ledger.compression.readiness(other),
            lambda: ledger.compression.rest(other, at(9), entry(other), at(1)),
            lambda: ledger.compression.compress(wanted(other), at(1)),
            lambda: ledger.registry.register(sample(), other),
        ]
        for attempt in attempts:
            assert not attempt()
        ledger.book.finish_turn(other, "anna", failed=True, guard="of another")
        assert reread(ledger, begun) == before
        assert ledger.spending.snapshot(begun.ref) is None
        readiness = ledger.compression.readiness(begun)
        assert readiness is not None
        assert readiness.rests_until is None
        assert (len(everything(ledger)), journal(ledger), ledger.registry.running()) == (1, [], [])

    def test_policies_are_not_taken_for_another_session_of_that_number(
        self, ledger: Ledger
    ) -> None:
        begun = born(ledger)
        assert say(ledger, replace(begun, id="another"), "hello", schedule=NEWER) is None
        assert [each.id for each in ledger.index.stale(1, ALL)] == [begun.id]

    def test_a_writer_that_has_seen_more_messages_than_there_are_is_refused(
        self, ledger: Ledger
    ) -> None:
        begun = born(ledger)
        say(ledger, begun, "one", "two")
        for schedule in (NO_RULES, NEWER):
            assert _append(ledger, begun, schedule, seen=3) is None
        assert [message.content for message in heard(ledger, begun)] == ["one", "two"]
        assert len(ledger.index.stale(1, ALL)) == 1
        assert _append(ledger, begun, NO_RULES, seen=2) == 3
        assert _append(ledger, begun, NEWER, seen=3) == 4

    def test_a_session_without_messages_that_were_seen_there_is_not_gone_on_with(
        self, ledger: Ledger
    ) -> None:
        anna = enrol(ledger, "anna")
        begun, other = _talked(ledger), _talked(ledger, key="other")
        before, gone = everything(ledger), other.ref + 1
        assert ledger.book.start_turn(begun, anna, NO_RULES, at(1), seen=9) is None
        assert ledger.compression.compress(replace(wanted(begun), seen=9), at(1)) is None
        with pytest.raises(SessionRewound):
            ledger.messages.page(begun.ref, 0, ALL, seen=9)
        assert ledger.messages.lacking({begun.ref: 9, other.ref: 8, gone: 0}) == [begun.ref, gone]
        assert ledger.messages.lacking({}) == []
        assert everything(ledger) == before
        assert ledger.messages.lacking({begun.ref: 8, other.ref: 0}) == []
        assert len(ledger.messages.page(begun.ref, 0, ALL, seen=8)) == 8
        assert ledger.book.start_turn(begun, anna, NO_RULES, at(1), seen=8) is not None
        assert ledger.compression.compress(replace(wanted(begun), seen=8), at(1)) is not None

    def test_a_worker_that_the_ledger_does_not_know_holds_nothing(self, ledger: Ledger) -> None:
        anna = enrol(ledger, "anna")
        begun = born(ledger, worker=anna)
        over = born(ledger, "over")
        ledger.book.end_now(over, "reaped:test", at(1))
        lost = Lost(ref=over.ref, worker="nobody", schedule=NO_RULES, entry=entry(over))
        before = everything(ledger)
        attempts: list[Callable[[], object]] = [
            lambda: ledger.book.begin(birth("new", worker="nobody"), at(1)),
            lambda: ledger.book.join(begun, "nobody", (anna,), at(1)),
            lambda: ledger.book.start_turn(begun, "nobody", NO_RULES, at(1)),
            lambda: ledger.book.replace(begun, IDLE, birth(worker="nobody"), entry(begun), at(1)),
            lambda: ledger.reaping.revive([lost], at(2)),
        ]
        for attempt in attempts:
            with pytest.raises(WorkerUnknown):
                attempt()
        assert not ledger.reaping.occupy(begun, "nobody", at(1))
        assert everything(ledger) == before

    def test_reading_a_session_that_is_not_there_is_an_error(self, ledger: Ledger) -> None:
        begun = born(ledger)
        with pytest.raises(SessionRewound):
            ledger.messages.page(begun.ref + 1, 0, ALL)
        with pytest.raises(SessionRewound):
            ledger.compression.chain(begun.ref + 1)

    def test_work_is_settled_for_the_session_it_was_taken_on_for(self, ledger: Ledger) -> None:
        over, taken = one_taken(ledger)
        other = replace(taken, session_ref=over.ref + 1)
        assert not ledger.finalizing.memoise(other, b"memo")
        assert not ledger.finalizing.finish(other, "fine", at(3601))
        assert not ledger.finalizing.put_back(other, "failed", None, at(3601))
        assert owed(ledger, over) == [taken]
        assert ledger.finalizing.memo(taken) is None


def _talked(ledger: Ledger, **facts: Any) -> Session:
    begun = born(ledger, **facts)
    say(ledger, begun, *[f"word {number}" for number in range(8)])
    return begun


def _append(ledger: Ledger, session: Session, schedule: Schedule, seen: int) -> int | None:
    drafts = [draft("user", "three")]
    batch = Batch(session=session, drafts=drafts, schedule=schedule, seen=seen)
    appended = ledger.messages.append(batch, NOON)
    return None if appended is None else appended.last_seq
