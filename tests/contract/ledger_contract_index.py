"""What every ledger promises about lists, due times and warnings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from sexton.core.schedule import Schedule
from sexton.core.session import Limit, Session, State
from sexton.homes.home_ports import HomeRecord
from sexton.sessions.model import Filter, Place
from sexton.store.ledger import Ledger
from tests.contract.examples import examples
from tests.contract.ledger_contract_samples import (
    ALL,
    NO_RULES,
    NOON,
    at,
    born,
    enrol,
    entry,
    holders,
    journal,
    observe,
    reread,
    say,
    seen,
)

A_SESSION = st.tuples(st.sampled_from("ab"), st.integers(0, 3), st.booleans(), st.booleans())

PAGES = 100

_examples = count(1)


class IndexContract:
    """Finding, paging, due and stale sessions, warnings, totals."""

    def test_a_session_is_found_by_its_home_and_id(self, ledger: Ledger) -> None:
        mine = born(ledger, id="same", worker=enrol(ledger, "anna"))
        home = ledger.homes.attach("lab", "hermes", "/lab", "host", False)
        observed = replace(mine, ref=0, home="lab", holders=())
        observe(ledger, home, observed)
        assert ledger.index.find("native", "same") == [mine]
        [found] = ledger.index.find("lab", "same")
        assert ledger.index.find(None, "same") == [mine, found]
        assert ledger.index.find("lab", "other") == ledger.index.find("elsewhere", "same") == []

    def test_sessions_are_found_by_the_beginning_of_their_id(self, ledger: Ledger) -> None:
        lab = ledger.homes.attach("lab", "hermes", "/lab", "host", False)
        made = [born(ledger, None, id=id) for id in ("ab", "ab%", "aB", "abß", "b", "AB", "ab😀")]
        observe(ledger, lab, replace(made[0], ref=0, home="lab"))
        found = ledger.index.begins_with("ab", ALL)
        assert [(each.home, each.id) for each in found] == [
            *(("native", id) for id in ("ab", "ab%", "abß", "ab😀")),
            ("lab", "ab"),
        ]
        assert ledger.index.begins_with("ab%", ALL) == [made[1]]
        assert ledger.index.begins_with("ab", 2) == [made[0], made[1]]
        assert ledger.index.begins_with("abc", ALL) == []

    def test_pages_are_complete_and_in_order_whatever_their_size(self, ledger: Ledger) -> None:
        lab = ledger.homes.attach("lab", "hermes", "/lab", "host", False)

        @examples(25)
        @given(st.lists(A_SESSION, max_size=9), st.integers(1, 7))
        def complete(some: list[tuple[str, int, bool, bool]], size: int) -> None:
            source = f"source {next(_examples)}"
            made = [_make(ledger, lab, source, each) for each in some]
            made.sort(key=lambda each: (each.active_at, each.ref), reverse=True)
            for wanted in FILTERS:
                mine = replace(wanted, source=source)
                expected = [each for each in made if _matches(mine, each)]
                assert _walk(partial(_recent_page, ledger, mine, size), _active) == expected

        complete()

    def test_a_list_can_be_narrowed_to_a_home_a_source_a_state_or_a_key(
        self, ledger: Ledger
    ) -> None:
        lab = ledger.homes.attach("lab", "hermes", "/lab", "host", False)
        chat, cli = born(ledger, "a"), born(ledger, "b", source="cli", now=at(1))
        observe(ledger, lab, replace(chat, ref=0, home="lab", active_at=at(2)))
        [foreign] = ledger.index.find("lab", chat.id)
        assert ledger.book.end_now(cli, "closed", at(3))
        for wanted, expected in (
            (Filter(), [foreign, reread(ledger, cli), chat]),
            (Filter(home="lab"), [foreign]),
            (Filter(source="cli"), [reread(ledger, cli)]),
            (Filter(state=State.OPEN), [foreign, chat]),
            (Filter(key="a"), [foreign, chat]),
            (Filter(key="a", home="native"), [chat]),
            (Filter(home="elsewhere"), []),
        ):
            assert _walk(partial(_recent_page, ledger, wanted, 1), _active) == expected
            assert ledger.index.page(wanted, None, ALL) == expected

    def test_what_was_active_within_one_second_is_told_in_its_exact_order(
        self, ledger: Ledger
    ) -> None:
        after = (0, 900_000, 1, 1_048_576, 3, 2, 1_048_575, 500_000, 0)
        made = [born(ledger, f"{place}") for place in range(len(after))]
        for each, later in zip(made, after, strict=True):
            say(ledger, each, "a", now=at(1))
            say(ledger, each, "b", now=at(2) + timedelta(microseconds=later))
        newest = [made[place].id for _, place in sorted(zip(after, count(), strict=False))][::-1]
        for size in (1, 2, 3, len(made)):
            told, place = list[str](), None
            for _ in range(PAGES):
                page = ledger.index.page(Filter(), place, size)
                told += [each.id for each in page]
                if not page:
                    break
                place = Place(page[-1].active_at, page[-1].ref)
            assert told == newest

    def test_a_page_is_not_disturbed_by_what_happens_meanwhile(self, ledger: Ledger) -> None:
        old = [born(ledger, None, now=at(second)) for second in range(6)]
        first = ledger.index.page(Filter(), None, 3)
        place = Place(first[-1].active_at, first[-1].ref)
        born(ledger, None, now=at(60))
        say(ledger, old[0], "moves to the front", now=at(61))
        rest = ledger.index.page(Filter(), place, 3)
        assert [each.ref for each in first] == [old[5].ref, old[4].ref, old[3].ref]
        assert [each.ref for each in rest] == [old[2].ref, old[1].ref]

    def test_a_list_shows_the_holders_of_open_sessions(self, ledger: Ledger) -> None:
        born(ledger, "a", worker=enrol(ledger, "anna"))
        held = born(ledger, "b", worker="anna", now=at(1))
        assert ledger.book.join(held, enrol(ledger, "berta"), (), at(2))
        listed = ledger.index.page(Filter(state=State.OPEN), None, ALL)
        assert [holders(each) for each in listed] == [["anna", "berta"], ["anna"]]

    def test_sessions_are_due_from_their_due_time_on_until_they_end(self, ledger: Ledger) -> None:
        due = [born(ledger, f"{n}", schedule=Schedule(0, at=at(n))) for n in (30, 10, 20)]
        born(ledger, "never")
        assert ledger.index.due(at(9.999999), None, ALL) == []
        assert [each.key for each in ledger.index.due(at(10), None, ALL)] == ["10"]
        assert [each.key for each in ledger.index.due(at(99), None, ALL)] == ["10", "20", "30"]
        assert ledger.book.end_now(due[1], "idle", at(50))
        assert [each.key for each in ledger.index.due(at(99), None, ALL)] == ["20", "30"]

    def test_pages_of_due_sessions_are_complete_whatever_their_size(self, ledger: Ledger) -> None:
        times = (3, 1, 2, 1, 1, 3, 1)
        anna = enrol(ledger, "anna")
        for number, second in enumerate(times):
            born(ledger, f"{number}", worker=anna, schedule=Schedule(0, at=at(second)))
        everyone = ledger.index.due(at(9), None, ALL)
        assert [each.due_at for each in everyone] == [at(second) for second in sorted(times)]
        assert all(holders(each) == ["anna"] for each in everyone)
        for size in range(1, 9):
            pages = _walk(partial(_due_page, ledger, size), _due)
            assert pages == everyone

    def test_sessions_planned_under_older_policies_are_stale(self, ledger: Ledger) -> None:
        for serial in (3, 1, 2):
            born(ledger, f"{serial}", schedule=Schedule(serial))
        ended = born(ledger, "ended", schedule=Schedule(1))
        assert ledger.book.end_now(ended, "closed", at(1))
        lab = ledger.homes.attach("lab", "hermes", "/lab", "host", False)
        observe(ledger, lab, replace(ended, home="lab", ref=0))
        assert [each.key for each in ledger.index.stale(3, ALL)] == ["1", "2"]
        assert [each.key for each in ledger.index.stale(3, 1)] == ["1"]
        assert ledger.index.stale(1, ALL) == []

    def test_new_due_times_are_stored_and_end_the_staleness(self, ledger: Ledger) -> None:
        first, second = born(ledger, "a"), born(ledger, "b")
        plans = [(first, Schedule(2, at=at(7))), (second, Schedule(2))]
        assert ledger.index.reschedule(plans) == 2
        assert [reread(ledger, each).due_at for each in (first, second)] == [at(7), None]
        assert ledger.index.stale(2, ALL) == []

    def test_a_due_time_computed_from_old_facts_is_not_stored(self, ledger: Ledger) -> None:
        anna = enrol(ledger, "anna")
        begun = born(ledger, worker=anna, schedule=Schedule(1, at=at(5)))
        say(ledger, begun, "one", now=at(1), schedule=Schedule(1, at=at(6)))
        assert ledger.book.start_turn(begun, anna, NO_RULES, at(2))
        now = reread(ledger, begun)
        other = born(ledger, "other")
        plan = Schedule(2, at=at(99))
        for stale in (
            replace(now, active_at=NOON),
            replace(now, message_count=0),
            replace(now, turn_count=0),
            replace(now, ref=now.ref + 1000),
        ):
            assert ledger.index.reschedule([(stale, plan)]) == 0
        assert reread(ledger, begun) == now
        assert ledger.book.end_now(begun, "closed", at(3))
        assert ledger.index.reschedule([(now, plan), (other, plan)]) == 1
        assert reread(ledger, begun).due_at == at(6)

    def test_a_session_is_warned_about_each_limit_once(self, ledger: Ledger) -> None:
        begun, other = born(ledger, "a"), born(ledger, "b")
        for limit in (Limit.MESSAGES, Limit.AGE):
            assert ledger.index.warn(seen(begun), limit, entry(begun), at(1)) is True
            assert ledger.index.warn(seen(begun), limit, entry(begun), at(2)) is False
        assert reread(ledger, begun).warned == Limit.MESSAGES | Limit.AGE
        assert [line.at for line in journal(ledger, begun)] == [at(1), at(1)]
        assert reread(ledger, other) == other

    def test_what_ended_or_was_taken_over_is_not_warned(self, ledger: Ledger) -> None:
        begun = born(ledger)
        fenced = seen(begun, epoch=2)
        assert ledger.index.warn(fenced, Limit.BYTES, entry(begun), at(1)) is False
        assert ledger.book.end_now(begun, "closed", at(2))
        assert ledger.index.warn(seen(begun), Limit.BYTES, entry(begun), at(3)) is False
        assert reread(ledger, begun).warned is Limit.NONE
        assert journal(ledger) == []


FILTERS = (
    Filter(),
    Filter(state=State.OPEN),
    Filter(key="b"),
    Filter(home="native"),
    Filter(home="lab", key="a", state=State.OPEN),
    Filter(home="elsewhere"),
)


def _make(
    ledger: Ledger, lab: HomeRecord, source: str, some: tuple[str, int, bool, bool]
) -> Session:
    """A session of the native home or of another one, open or over."""
    key, seconds, foreign, over = some
    now = at(seconds)
    begun = (
        born(ledger, None, source="other", now=now)
        if foreign
        else born(ledger, None, source=source, now=now)
    )
    if foreign:
        observed = replace(begun, ref=0, home="lab", source=source, key=key)
        observe(ledger, lab, observed)
        return reread(ledger, observed)
    if over:
        assert ledger.book.end_now(begun, "closed", at(9))
    return reread(ledger, begun)


def _matches(wanted: Filter, session: Session) -> bool:
    return all(
        value is None or value == getattr(session, fact)
        for fact, value in (
            ("home", wanted.home),
            ("source", wanted.source),
            ("state", wanted.state),
            ("key", wanted.key),
        )
    )


def _walk(
    page: Callable[[Place | None], list[Session]], when: Callable[[Session], datetime]
) -> list[Session]:
    """All pages one after the other."""
    found: list[Session] = []
    place: Place | None = None
    for _ in range(PAGES):
        part = page(place)
        if not part:
            return found
        found += part
        place = Place(when(part[-1]), part[-1].ref)
    raise AssertionError("the pages do not end")


def _recent_page(ledger: Ledger, wanted: Filter, size: int, place: Place | None) -> list[Session]:
    return ledger.index.page(wanted, place, size)


def _due_page(ledger: Ledger, size: int, place: Place | None) -> list[Session]:
    return ledger.index.due(at(9), place, size)


def _active(session: Session) -> datetime:
    return session.active_at


def _due(session: Session) -> datetime:
    assert session.due_at is not None
    return session.due_at
