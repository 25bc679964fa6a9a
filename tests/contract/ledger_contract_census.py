"""What every ledger promises about the sessions of a home in numbers."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sexton.core.plan import ReapSession
from sexton.core.session import NATIVE, Session, State
from sexton.homes.home_ports import Cohort, HomeRecord, Started
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_samples import (
    IDLE,
    NOON,
    at,
    born,
    enrol,
    observe,
    seen,
)

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
NOW = NOON + 100 * DAY


def home_of(ledger: Ledger, name: str) -> HomeRecord:
    """The native home by its name, or a foreign one."""
    if name != NATIVE:
        return ledger.homes.attach(name, "hermes", f"/{name}", "host", False)
    return ledger.homes.all()[0]


def told(id: str, started_at: datetime = NOON, **facts: Any) -> Session:
    """A session of a foreign home; ended if an end reason is given."""
    given: dict[str, Any] = {"source": "chat", "active_at": started_at}
    if "end_reason" in facts:
        given |= {"state": State.ENDED, "ended_at": started_at}
    return Session(ref=0, home="", id=id, key=None, started_at=started_at, **(given | facts))


class CensusContract:
    """Whatever is counted is of one home, and of all its sessions."""

    def test_sessions_are_counted_by_source_end_and_age(self, ledger: Ledger) -> None:
        home, other = home_of(ledger, "there"), home_of(ledger, "elsewhere")
        reached = (HOUR - timedelta(microseconds=1), HOUR, DAY, 7 * DAY, 30 * DAY, 31 * DAY)
        observe(
            ledger,
            home,
            *(told(f"open {place}", NOW - age) for place, age in enumerate(reached)),
            told("a", NOW, end_reason="done", message_count=2, byte_count=9, active_at=NOW + HOUR),
            told("b", NOW - 50 * DAY, end_reason="done", message_count=1, byte_count=2**40),
            told("c", NOW, source="cli", end_reason="left"),
        )
        observe(ledger, other, told("a", NOW))
        found = ledger.homes.census.cohorts(home, NOW)
        chat: dict[str, Any] = {"source": "chat", "end_reason": None, "state": State.OPEN}
        empty: dict[str, Any] = {"messages": 0, "bytes": 0}
        assert found[:2] == [
            Cohort(
                source="chat", state=State.ENDED, end_reason="done", age=None, sessions=2,
                messages=3, bytes=2**40 + 9, oldest=NOW - 50 * DAY, newest=NOW + HOUR,
            ),
            Cohort(
                **chat, **empty, age=4, sessions=2, oldest=NOW - 31 * DAY, newest=NOW - 30 * DAY
            ),
        ]  # fmt: skip
        assert {each.age: each.sessions for each in found if each.state is State.OPEN} == {
            0: 1, 1: 1, 2: 1, 3: 1, 4: 2,
        }  # fmt: skip
        assert sum(each.sessions for each in found) == 9
        assert len(ledger.homes.census.cohorts(other, NOW)) == 1
        assert ledger.homes.census.cohorts(home_of(ledger, NATIVE), NOW) == []

    def test_sessions_are_counted_by_the_day_they_started_on(self, ledger: Ledger) -> None:
        home, other = home_of(ledger, "there"), home_of(ledger, "elsewhere")
        midnight = NOON - 12 * HOUR
        tick = timedelta(microseconds=1)
        observe(
            ledger,
            home,
            told("too early", midnight - tick, active_at=NOW),
            told("first", midnight, end_reason="reaped:inactive"),
            told("open", midnight + DAY - tick),
            told("next", midnight + DAY, end_reason="closed"),
            told("last", NOW, end_reason="reaped:process_gone"),
        )
        observe(ledger, other, told("first", midnight))
        day = midnight.date()
        assert ledger.homes.census.started(home, midnight) == [
            Started(day=day, sessions=2, open=1, reaped=1),
            Started(day=day + DAY, sessions=1),
            Started(day=NOW.date(), sessions=1, reaped=1),
        ]
        assert ledger.homes.census.started(home, NOW + tick) == []

    def test_the_biggest_are_those_with_most_content(self, ledger: Ledger) -> None:
        home, other = home_of(ledger, "there"), home_of(ledger, "elsewhere")
        sizes = {"small": (1, 9), "big": (2**40, 1), "wordy": (5, 8), "terse": (5, 7)}
        observe(
            ledger,
            home,
            *(
                told(id, byte_count=size, message_count=count, end_reason="done")
                for id, (size, count) in sizes.items()
            ),
        )
        observe(ledger, other, told("other", byte_count=2**41))
        found = ledger.homes.census.biggest(home, 3)
        assert [each.id for each in found] == ["big", "wordy", "terse"]
        assert found == [ledger.index.find("there", each.id)[0] for each in found]
        assert len(ledger.homes.census.biggest(home, 9)) == 4

    def test_open_sessions_are_counted_by_who_holds_them(self, ledger: Ledger) -> None:
        home, other = home_of(ledger, NATIVE), home_of(ledger, "there")
        assert ledger.homes.census.held(home) == {(): 0}
        anna, berta = enrol(ledger, "anna"), enrol(ledger, 'b"erta')
        for number in range(3):
            born(ledger, f"anna's {number}", worker=anna)
        for number, (first, second) in enumerate([(anna, berta), (berta, anna)]):
            shared = born(ledger, f"shared {number}", worker=first)
            assert ledger.book.join(shared, second, (), at(1))
        born(ledger, "nobody's")
        ended = born(ledger, "ended", worker=anna)
        ledger.book.end_now(ended, "done", at(1))
        observe(ledger, other, told("a"), told("b", end_reason="done"))
        assert ledger.homes.census.held(home) == {(): 1, (anna,): 3, (anna, berta): 2}
        assert ledger.homes.census.held(other) == {(): 1}

    def test_silent_is_what_nobody_holds_and_nobody_used_for_long(self, ledger: Ledger) -> None:
        home, other = home_of(ledger, NATIVE), home_of(ledger, "there")
        for number in range(2):
            born(ledger, f"silent {number}", now=at(number))
        born(ledger, "later", now=at(2))
        born(ledger, "held", worker=enrol(ledger, "anna"))
        born(ledger, "cli", source="cli")
        ended = born(ledger, "ended")
        ledger.book.end_now(ended, "done", at(1))
        observe(ledger, other, told("a"))
        silent = ledger.homes.census.silent
        assert (silent(home, "chat", at(1)), silent(home, "cli", at(1))) == (2, 1)
        assert silent(home, "chat", at(-1)) == 0
        assert silent(other, "chat", at(1)) == 1

    def test_the_first_recorded_reap_of_a_home_is_remembered(self, ledger: Ledger) -> None:
        for number, home in enumerate(("there", "elsewhere", "there")):
            seen_there = replace(seen(born(ledger, f"{number}")), home=home, id=f"{number}")
            reap = ReapSession(seen=seen_there, reason=IDLE)
            assert ledger.samples.record(reap, now=at(3 - number)) == [True]
        first = ledger.samples.first_shadow
        assert (first("there"), first("elsewhere"), first("nowhere")) == (at(1), at(2), None)
