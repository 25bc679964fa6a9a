"""What every ledger promises about lists of open sessions among many that have ended."""

from __future__ import annotations

from dataclasses import replace

from sexton.core.session import Session, State
from sexton.sessions.model import Filter, Place
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_samples import ALL, at, born, enrol, holders, observe, reread

ENDED = 12
PAGES = 20


class OpenContract:
    """Going through the open sessions of a home, and listing them newest first."""

    def test_all_open_sessions_of_a_home_are_gone_through_by_id(self, ledger: Ledger) -> None:
        lab = ledger.homes.attach("lab", "hermes", "/lab", "host", False)
        open_ones = [born(ledger, None, id=id) for id in ("", "c", "a", "B", "ä")]
        _end(ledger, born(ledger, None, id="b"))
        observe(ledger, lab, replace(open_ones[0], ref=0, home="lab", id="d"))
        for size in (1, 2, ALL):
            found: list[Session] = []
            for _ in range(PAGES):
                found += ledger.index.open("native", found[-1] if found else None, size)
            assert sorted(each.ref for each in found) == [each.ref for each in open_ones]
        assert [each.id for each in ledger.index.open("lab", None, ALL)] == ["d"]
        assert ledger.index.open("elsewhere", None, ALL) == []

    def test_who_goes_through_open_sessions_sees_their_holders(self, ledger: Ledger) -> None:
        born(ledger, "a", worker=enrol(ledger, "anna"))
        [found] = ledger.index.open("native", None, ALL)
        assert holders(found) == ["anna"]

    def test_open_sessions_are_listed_below_any_number_of_ended_ones(self, ledger: Ledger) -> None:
        lab = ledger.homes.attach("lab", "hermes", "/lab", "host", False)
        first = born(ledger, "a", now=at(1))
        second = born(ledger, "b", now=at(2), source="cli")
        third = born(ledger, "c", now=at(2))
        foreign = replace(first, ref=0, home="lab", active_at=at(3))
        observe(ledger, lab, foreign)
        for seconds in range(ENDED):
            _end(ledger, born(ledger, None, now=at(10 + seconds)))
        foreign = reread(ledger, foreign)
        still = Filter(state=State.OPEN)
        for wanted, expected in (
            (still, [foreign, third, second, first]),
            (replace(still, home="native"), [third, second, first]),
            (replace(still, source="cli"), [second]),
            (replace(still, key="a"), [foreign, first]),
            (replace(still, folded=True), [foreign, third, second, first]),
        ):
            for size in (1, 2, ALL):
                assert _walk(ledger, wanted, size) == expected

    def test_open_sessions_are_listed_above_ended_ones(self, ledger: Ledger) -> None:
        for seconds in range(ENDED):
            _end(ledger, born(ledger, None, now=at(seconds)))
        made = [born(ledger, None, now=at(100 + seconds)) for seconds in range(ENDED)]
        for size in (1, 5, ALL):
            assert _walk(ledger, Filter(state=State.OPEN), size) == made[::-1]

    def test_the_session_that_a_key_had_before_is_its_last_native_one(self, ledger: Ledger) -> None:
        lab = ledger.homes.attach("lab", "hermes", "/lab", "host", False)
        first, other = born(ledger, "talk"), born(ledger, "other")
        for session in (first, other):
            _end(ledger, session)
        second = born(ledger, "talk")
        _end(ledger, second)
        elsewhere = replace(first, ref=0, home="lab", ended_at=at(1), state=State.ENDED)
        observe(ledger, lab, replace(elsewhere, end_reason="closed"))
        _end(ledger, born(ledger, "other"))
        third = born(ledger, "talk")
        assert [ledger.index.before(each) for each in (third, second, first)] == [
            reread(ledger, second),
            reread(ledger, first),
            None,
        ]


def _end(ledger: Ledger, session: Session) -> None:
    assert ledger.book.end_now(session, "closed", session.active_at)


def _walk(ledger: Ledger, wanted: Filter, size: int) -> list[Session]:
    found: list[Session] = []
    place: Place | None = None
    for _ in range(PAGES):
        found += ledger.index.page(wanted, place, size)
        place = Place(found[-1].active_at, found[-1].ref) if found else None
    return found
