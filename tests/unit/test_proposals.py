"""What was shown is remembered within bounds of bytes and age."""

from __future__ import annotations

import gc
import tracemalloc
from datetime import UTC, datetime, timedelta
from typing import cast
from uuid import uuid4

import pytest

from sexton.core.plan import Plan, ReapSession, Reason, Seen
from sexton.core.record import replace
from sexton.errors import PlanInvalid
from sexton.keeper.plan_file import plan_document, read_plan
from sexton.operations.planned import Plan as Shown
from sexton.operations.verb_proposal import Done, Proposal
from sexton.testing import ManualClock
from sexton.web.proposals import MOST_AGE, Proposals, Written

KEY = bytes(32)
NOW = datetime(2026, 1, 2, tzinfo=UTC)
LOOKS = 50


def a_plan(actions: int = 1, why: str = "no process has its pid") -> Plan:
    """A plan with an id and a time of its own."""
    seen = Seen(
        ref=1, home="native", id="s", epoch=1, active_at=NOW, message_count=1, turn_count=0,
        pinned=False,
    )  # fmt: skip
    return Plan(
        id=uuid4().hex,
        ledger="l",
        policies="p",
        made_at=NOW + timedelta(microseconds=uuid4().int % 10**9),
        actions=tuple(
            ReapSession(
                seen=replace(seen, ref=number, id=uuid4().hex),
                reason=Reason("reaped:process_gone", why),
                dead=((f"worker-{number}", number),),
            )
            for number in range(actions)
        ),
    )


def again(plan: Plan) -> Plan:
    """The same plan, made once more."""
    return replace(plan, id=uuid4().hex, made_at=plan.made_at + timedelta(seconds=1))


def look(proposals: Proposals, plan: Plan) -> str:
    """Show a plan; its digest."""
    shown = plan_document(plan, KEY)
    proposals.add_plan(shown)
    return str(shown["digest"])


def confirmed(proposals: Proposals, digest: str) -> Plan:
    found = proposals.of(digest)
    assert isinstance(found, Written)
    return read_plan(found.text, "l", KEY)


def test_what_was_shown_comes_back_whole(manual_clock: ManualClock) -> None:
    proposals, plan = Proposals(manual_clock), a_plan(20)
    assert confirmed(proposals, look(proposals, plan)) == plan


def test_a_plan_that_is_looked_at_again_and_again_is_kept_once(manual_clock: ManualClock) -> None:
    proposals, plan = Proposals(manual_clock), a_plan(100)
    first = look(proposals, plan)
    size = proposals.size
    digests = [look(proposals, again(plan)) for _ in range(LOOKS)]
    assert len({first, *digests}) == LOOKS + 1
    assert proposals.size - size <= LOOKS * 2_000 < LOOKS * size
    for digest in (first, *digests):
        assert confirmed(proposals, digest).actions == plan.actions


def test_large_plans_take_no_more_than_the_bound(manual_clock: ManualClock) -> None:
    bound, actions = 100_000, 200
    proposals = Proposals(manual_clock, most_bytes=bound)
    look(proposals, a_plan(actions))
    assert 1_000 < proposals.size < bound
    plans = [a_plan(actions) for _ in range(2 * bound // proposals.size)]  # twice as much as fits
    gc.collect()
    tracemalloc.start()  # which slows down whatever is traced
    try:
        digests = [look(proposals, plan) for plan in plans]
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert proposals.size <= bound
    assert kept < 3 * bound
    assert len(confirmed(proposals, digests[-1]).actions) == actions
    with pytest.raises(PlanInvalid):
        proposals.of(digests[0])


def test_the_newest_is_remembered_however_large_it_is(manual_clock: ManualClock) -> None:
    proposals = Proposals(manual_clock, most_bytes=1)
    first, second = (look(proposals, a_plan(50)) for _ in range(2))
    assert (first in proposals, second in proposals) == (False, True)


def test_a_proposal_is_forgotten_after_a_while(manual_clock: ManualClock) -> None:
    proposals, plan = Proposals(manual_clock), a_plan(50)
    early = look(proposals, plan)
    manual_clock.advance(MOST_AGE / 2)
    late = look(proposals, again(plan))
    manual_clock.advance(MOST_AGE / 2 + 1)
    assert (early in proposals, late in proposals) == (False, True)
    assert confirmed(proposals, late).actions == plan.actions
    manual_clock.advance(MOST_AGE)
    with pytest.raises(PlanInvalid):
        proposals.of(late)
    assert proposals.size == 0


def test_proposals_that_read_alike_are_not_mixed_up(manual_clock: ManualClock) -> None:
    proposals = Proposals(manual_clock)
    shown = [plan_document(a_plan(0), KEY) | {"digest": digest} for digest in ("one", "two")]
    one, two = (
        Proposal(
            verb="pin", title="", says="", steps=(), undoing="", shown=cast("Shown", each),
            work=lambda *_: Done(outcomes=()),
        )
        for each in shown
    )  # fmt: skip
    for each in (one, two):
        proposals.add(each)
    assert proposals.of("one") is one
    assert proposals.of("two") is two
