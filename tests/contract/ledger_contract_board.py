"""What every ledger promises to those who look at all of its sessions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from sexton.core.plan import Reason
from sexton.core.session import NATIVE, State
from sexton.errors import InputInvalid
from sexton.sessions.board import Order, Search, Spot
from sexton.sessions.model import Place
from sexton.store.journal import Entry
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_census import home_of, told
from tests.contract.ledger_contract_compression import shorter, talked
from tests.contract.ledger_contract_finalizing_samples import ended, one_taken
from tests.contract.ledger_contract_samples import NOON, at, born, enrol, observe

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


PACES = ({"FEW": 2000, "STEPS": (250,)}, {"FEW": 0, "STEPS": (1, 2, 3)})
"""Both ways of searching, whatever the size of the ledger: all at once, and step by step."""


@contextmanager
def bounded(**bounds: Any) -> Iterator[None]:
    """A board with other bounds than those for millions of sessions."""
    with pytest.MonkeyPatch.context() as patch:
        for name, bound in bounds.items():
            patch.setattr(f"sexton.sessions.board.{name}", bound)
        yield


def everything(
    ledger: Ledger, order: Order = Order.ACTIVE, *, limit: int = 2, **wanted: Any
) -> list[str]:
    """The ids of all that a search finds, page by page, in either way."""
    found = []
    for pace in PACES:
        with bounded(**pace):
            found.append(_every_page(ledger, Search(**wanted), order, limit))
    assert found[0] == found[1]
    return found[0]


def _every_page(ledger: Ledger, search: Search, order: Order, limit: int) -> list[str]:
    found: list[str] = []
    after: Spot | None = None
    for _ in range(1000):
        part = ledger.board.search(search, order, after, limit)
        assert len(part.sessions) <= limit
        found += [each.id for each in part.sessions]
        after = part.rest
        if after is None:
            return found
    raise AssertionError("a search does not come to its end")


def fill(ledger: Ledger) -> None:
    """Two homes with sessions that alternate in time."""
    for name, first in (("here", 0), ("there", 1)):
        observe(
            ledger,
            home_of(ledger, name),
            *(
                told(
                    f"{number}",
                    NOON + number * HOUR,
                    source="cron" if number % 4 < 2 else "chat",
                    byte_count=(number * 7) % 12,
                    title=f"Title {number} 100%" if number % 3 else "Größe_ä",
                    **({} if number % 5 else {"end_reason": "done"}),
                )
                for number in range(first, 12, 2)
            ),
        )


def _heeds_filters(ledger: Ledger, order: Order) -> None:
    here = sorted(everything(ledger, order, home="here"), key=int)
    assert here == [str(number) for number in range(0, 12, 2)]
    ended = everything(ledger, order, state=State.ENDED)
    assert sorted(ended, key=int) == ["0", "5", "10"]
    assert sorted(everything(ledger, order, source="cron", state=State.ENDED)) == ["0", "5"]
    assert everything(ledger, order, source="nowhere") == []
    assert everything(ledger, order, home="nowhere") == []
    young: dict[str, Any] = {"active_since": NOON + 3 * HOUR, "active_before": NOON + 5 * HOUR}
    assert sorted(everything(ledger, order, **young)) == ["3", "4"]
    assert everything(ledger, order, source="cron", **young) == ["4"]
    assert everything(ledger, order, source="cron", text="1 100%") == ["1"]
    assert everything(ledger, order, state=State.ENDED, text="title 1") == ["10"]
    assert everything(ledger, order, state=State.ENDED, **young) == []


def fill_ends(ledger: Ledger) -> None:
    """Two homes with sessions that alternate; the first and biggest of each are open."""
    for name, first in (("here", 0), ("there", 1)):
        observe(
            ledger,
            home_of(ledger, name),
            *(
                told(
                    f"{number}",
                    NOON + number * HOUR,
                    source="rare" if number % 6 < 4 else "chat",
                    byte_count=100 - number,
                    **({} if number < 4 else {"end_reason": "done"}),
                )
                for number in range(first, 16, 2)
            ),
        )


class BoardContract:
    """A search finds each session once, in its order, whatever it looks for."""

    def test_pages_hold_every_session_once_in_each_order(self, ledger: Ledger) -> None:
        fill(ledger)
        newest = [str(number) for number in range(11, -1, -1)]
        assert everything(ledger) == newest
        assert everything(ledger, Order.STARTED, limit=5) == newest
        biggest = everything(ledger, Order.SIZE)
        assert sorted(biggest) == sorted(newest)
        sizes = [(int(each) * 7) % 12 for each in biggest]
        assert sizes == sorted(sizes, reverse=True)

    def test_filters_are_heeded_together(self, ledger: Ledger) -> None:
        fill(ledger)
        for order in Order:
            _heeds_filters(ledger, order)
        done = told("done", NOON + DAY, end_reason="done", state=State.FINALIZED)
        observe(ledger, home_of(ledger, "here"), done)
        for order in Order:
            assert everything(ledger, order, state=State.FINALIZED) == ["done"]
            assert "done" not in everything(ledger, order, state=State.ENDED)

    def test_text_is_found_in_titles_as_it_is(self, ledger: Ledger) -> None:
        fill(ledger)
        assert everything(ledger, text="tItLe 1") == ["11", "10", "1"]
        assert everything(ledger, text="7 100%") == ["7"]
        assert everything(ledger, text="e_ä") == ["9", "6", "3", "0"]
        for wild in ("%x", "t_tle", "!", "nothing"):
            assert everything(ledger, text=wild) == []

    def test_a_search_for_nothing_says_where_it_goes_on(self, ledger: Ledger) -> None:
        fill(ledger)
        with bounded(FEW=0, STEPS=(2,)):
            part = ledger.board.search(Search(text="nothing"), Order.ACTIVE, None, 50)
        assert (part.sessions, part.rest is not None) == ([], True)

    def test_a_step_is_as_long_in_a_home_whatever_else_there_is(self, ledger: Ledger) -> None:
        fill_ends(ledger)
        wanted = Search(home="here", state=State.ENDED)
        for order in Order:
            with bounded(FEW=0, STEPS=(3,)):
                part = ledger.board.search(wanted, order, None, 50)
            newest, biggest = ["14", "12", "10"], ["4", "6", "8"]
            assert [each.id for each in part.sessions] == (
                biggest if order is Order.SIZE else newest
            )
            assert len(everything(ledger, order, limit=5)) == 16

    def test_few_sessions_are_found_at_once_among_many_others(self, ledger: Ledger) -> None:
        fill_ends(ledger)
        for wanted in (Search(state=State.OPEN), Search(source="rare", state=State.OPEN)):
            with bounded(FEW=2, STEPS=(1,)):
                part = ledger.board.search(wanted, Order.ACTIVE, None, 50)
            assert ([each.id for each in part.sessions], part.rest) == (["3", "2", "1", "0"], None)
        with bounded(FEW=6, STEPS=(1,)):
            part = ledger.board.search(Search(source="rare"), Order.ACTIVE, None, 50)
        assert (len(part.sessions), part.rest) == (12, None)

    def test_the_newest_of_a_chain_stands_for_all_of_it(self, ledger: Ledger) -> None:
        old, lone = talked(ledger), born(ledger, "lone")
        child = shorter(ledger, old)
        assert ledger.book.end_now(lone, "compression", at(60))
        twin = told(old.id, NOON - DAY, end_reason="compression")
        observe(ledger, home_of(ledger, "here"), twin, told("part", parent=twin.id))
        tips = [child.id, lone.id, twin.id, "part"]
        for order in Order:
            for source in (None, "chat"):
                assert sorted(everything(ledger, order, source=source)) == sorted(tips)
                unfolded = everything(ledger, order, folded=False, source=source)
                assert sorted(unfolded) == sorted([*tips, old.id])
            ends = everything(ledger, order, state=State.ENDED)
            assert sorted(ends) == sorted([lone.id, twin.id])

    def test_very_many_open_sessions_are_not_sorted_by_size(self, ledger: Ledger) -> None:
        fill(ledger)
        with bounded(MOST_SORTED=3):
            with pytest.raises(InputInvalid, match="3"):
                ledger.board.search(Search(), Order.SIZE, None, 10)
            assert len(everything(ledger, Order.SIZE, state=State.ENDED)) == 3

    def test_the_sources_of_sessions_are_known(self, ledger: Ledger) -> None:
        assert ledger.board.sources(10) == []
        fill(ledger)
        assert ledger.board.sources(10) == ["chat", "cron"]

    def test_open_sessions_are_told_with_who_holds_them(self, ledger: Ledger) -> None:
        fill(ledger)
        mine = born(ledger, now=NOON + DAY, worker=enrol(ledger, "w"), title="mine")
        for many in (3, 50_000):
            with bounded(MOST_SORTED=many):
                first, *others = ledger.board.live(100)
                assert (first.id, first.home, first.title) == (mine.id, NATIVE, "mine")
                assert first.holders == (("w", None),)
                assert [each.id for each in others][:3] == ["11", "9", "8"]
                assert [each.id for each in ledger.board.live(2)] == [mine.id, "11"]

    def test_children_are_told_in_their_order(self, ledger: Ledger) -> None:
        home = home_of(ledger, "here")
        children = [told(f"c{n}", NOON + n * HOUR, parent="p") for n in (2, 0, 1)]
        observe(ledger, home, told("p"), *children, told("other", parent="q"))
        found = ledger.board.children("here", "p", None, 2)
        assert [each.id for each in found] == ["c0", "c1"]
        rest = ledger.board.children("here", "p", Place(found[-1].started_at, found[-1].ref), 2)
        assert [each.id for each in rest] == ["c2"]
        assert ledger.board.children("there", "p", None, 2) == []

    def test_the_journal_is_followed(self, ledger: Ledger) -> None:
        start = ledger.board.newest_entry()
        reason = Reason("asked", "asked for")
        entry = Entry(actor="a", receipt="r", action="x", result="done", reason=reason)
        ledger.journal.write([entry] * 3, NOON)
        found = ledger.board.journal_since(start, 2)
        assert [each.action for each in found] == ["x", "x"]
        last = ledger.board.journal_since(found[-1].ref, 2)
        assert [each.ref for each in last] == [ledger.board.newest_entry()]


class GaugesContract:
    """What is counted is what is there."""

    def test_sessions_are_counted_by_home_and_state(self, ledger: Ledger) -> None:
        fill(ledger)
        found = ledger.gauges.tally()
        assert found["here", State.OPEN] == 4
        assert found["here", State.ENDED] == 2
        assert found[NATIVE, State.OPEN] == 0
        assert sum(found.values()) == 12

    def test_spending_is_summed_over_sessions_that_were_active(self, ledger: Ledger) -> None:
        assert ledger.gauges.spent_since(NOON) == (0, 0, 0)
        fill(ledger)
        assert ledger.gauges.spent_since(NOON + 10 * HOUR).sessions == 2
        a_moment = timedelta(microseconds=1)
        assert ledger.gauges.spent_since(NOON + 10 * HOUR + a_moment).sessions == 1
        assert ledger.gauges.spent_since(NOON + 11 * HOUR - a_moment).sessions == 1

    def test_figures_are_kept_for_a_while(self, ledger: Ledger) -> None:
        ledger.gauges.store({"a": 1, "b": 2**40}, NOON)
        ledger.gauges.store({"a": 3}, NOON + HOUR)
        assert ledger.gauges.since(NOON) == [
            ("a", NOON, 1),
            ("b", NOON, 2**40),
            ("a", NOON + HOUR, 3),
        ]
        assert ledger.gauges.since(NOON + HOUR) == [("a", NOON + HOUR, 3)]
        ledger.gauges.store({"a": 4}, NOON + 500 * DAY)
        assert ledger.gauges.since(NOON) == [("a", NOON + 500 * DAY, 4)]

    def test_no_work_is_owed_in_an_empty_ledger(self, ledger: Ledger) -> None:
        assert ledger.gauges.oldest_work() == {}

    def test_work_that_is_done_is_not_owed_any_more(self, ledger: Ledger) -> None:
        _, taken = one_taken(ledger)
        ended(ledger, second=5)
        assert ledger.gauges.oldest_work() == {"log": at(1)}
        assert ledger.finalizing.finish(taken, "fine", at(3700))
        assert ledger.gauges.oldest_work() == {"log": at(5)}
