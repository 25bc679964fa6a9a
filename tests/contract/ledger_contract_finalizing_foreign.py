"""What every ledger promises about the work that sessions of foreign homes owe."""

from __future__ import annotations

from typing import Any

from sexton.core.session import Session, State
from sexton.homes.home_ports import HomeRecord, Sighting
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_finalizing_samples import (
    DONE,
    LOG,
    PENDING,
    claim,
    ended,
    owed,
    rule,
    spans,
)
from tests.contract.ledger_contract_samples import (
    NOON,
    at,
    born,
    enrol,
    everything,
    observe,
    reread,
)


def attached(ledger: Ledger, name: str = "there", host: str = "host") -> HomeRecord:
    """A foreign home that has been seen to the end, at noon."""
    home = ledger.homes.attach(name, "hermes", f"/{name}", host, False)
    ledger.homes.store(home, Sighting(mark={}), None, NOON)
    return home


def foreign(id: str, count: int = 1, second: float | None = None, **facts: Any) -> Session:
    """A session of a foreign home, ended that many seconds after noon or open."""
    given: dict[str, Any] = {"source": "chat", "started_at": NOON, "active_at": NOON}
    if second is not None:
        given |= {"state": State.ENDED, "ended_at": at(second), "end_reason": "done"}
    return Session(ref=0, home="there", id=id, key=None, message_count=count, **(given | facts))


class ForeignOwingContract:
    """Sessions of foreign homes owe from the moment their home is attached."""

    def test_messages_that_a_home_stores_raise_the_count_of_its_session_alone(
        self, ledger: Ledger
    ) -> None:
        home, own = attached(ledger), born(ledger)
        observe(ledger, home, foreign("a", 4), foreign("b", 4), foreign("over", 4, 9))
        [a], [b], [over] = (ledger.index.find("there", id) for id in ("a", "b", "over"))
        for session, count in ((a, 7), (a, 5), (over, 9), (over, 8), (own, 9)):
            ledger.homes.grown(session.ref, count)
        counts = [reread(ledger, each).message_count for each in (a, b, over, own)]
        assert counts == [7, 4, 9, 0], "one that has ended goes on in its home, and counts as well"

    def test_an_observed_end_owes(self, ledger: Ledger) -> None:
        rule(ledger, LOG)
        home = attached(ledger)
        observe(ledger, home, foreign("a", 3), foreign("b", 3))
        assert owed(ledger) == []
        observe(ledger, home, foreign("a", 4, 2))
        [session] = ledger.index.find("there", "a")
        [found] = owed(ledger)
        assert (found.home, found.session, found.session_ref) == ("there", "a", session.ref)
        assert (found.since, found.through, found.owed_at) == (0, 4, at(2))

    def test_a_session_seen_again_as_it_was_owes_nothing_more(self, ledger: Ledger) -> None:
        rule(ledger, LOG)
        home = attached(ledger)
        for _ in range(3):
            observe(ledger, home, foreign("a", 4, 2))
        [session] = ledger.index.find("there", "a")
        assert spans(ledger, session) == [("log", 0, 4, PENDING)]

    def test_what_is_first_seen_as_ended_owes_if_it_ended_since_its_home_was_attached(
        self, ledger: Ledger
    ) -> None:
        rule(ledger, LOG)
        home = ledger.homes.attach("there", "hermes", "/there", "host", False)
        observe(ledger, home, foreign("first look", 4, 9))
        ledger.homes.store(home, Sighting(seen=(foreign("also", 4, 9),), mark={}), None, at(10))
        ledger.homes.store(home, Sighting(mark={}), None, at(30))
        observe(ledger, home, foreign("before", 4, 10), foreign("after", 4, 11))
        elsewhere = ledger.homes.attach("elsewhere", "hermes", "/else", "host", False)
        observe(ledger, elsewhere, foreign("theirs", 4, 11))
        assert [each.session for each in owed(ledger)] == ["after"]

    def test_what_was_said_after_an_end_that_nobody_saw_undone_is_owed(
        self, ledger: Ledger
    ) -> None:
        rule(ledger, LOG)
        enrol(ledger, "keeper")
        home = attached(ledger)
        observe(ledger, home, foreign("a", 4, 2))
        observe(ledger, home, foreign("a", 5, 3))
        [session] = ledger.index.find("there", "a")
        assert spans(ledger, session) == [("log", 0, 5, PENDING)]
        [taken] = claim(ledger)
        assert ledger.finalizing.finish(taken, "fine", at(4))
        observe(ledger, home, foreign("a", 7, 5))
        assert spans(ledger, session) == [("log", 0, 5, DONE), ("log", 5, 7, PENDING)]

    def test_a_session_that_is_open_again_owes_nothing(self, ledger: Ledger) -> None:
        rule(ledger, LOG)
        home = attached(ledger)
        observe(ledger, home, foreign("a", 4, 2))
        observe(ledger, home, foreign("a", 4))
        assert owed(ledger) == []

    def test_with_a_session_that_is_gone_goes_what_it_owed(self, ledger: Ledger) -> None:
        rule(ledger, LOG)
        home = attached(ledger)
        observe(ledger, home, foreign("a", 4, 2), foreign("b", 4, 2))
        ledger.homes.store(home, Sighting(gone=("a",)), None, at(3))
        assert [each.session for each in owed(ledger)] == ["b"]
        assert [each.id for each in everything(ledger)] == ["b"]

    def test_work_of_a_home_is_for_keepers_of_its_host(self, ledger: Ledger) -> None:
        rule(ledger, LOG)
        enrol(ledger, "keeper")
        observe(ledger, attached(ledger, "there", "host"), foreign("near", 4, 2))
        observe(ledger, attached(ledger, "far", "other host"), foreign("far", 4, 2))
        mine = ended(ledger)
        assert {each.session for each in claim(ledger)} == {"near", mine.id}

    def test_a_late_word_to_a_session_that_was_over_before_is_all_that_is_owed(
        self, ledger: Ledger
    ) -> None:
        rule(ledger, LOG)
        home = ledger.homes.attach("there", "hermes", "/there", "host", False)
        observe(ledger, home, foreign("first look", 4, -9))
        observe(ledger, home, foreign("first look", 5, -8))
        ledger.homes.store(home, Sighting(seen=(foreign("old", 4, -5),), mark={}), None, NOON)
        observe(ledger, home, foreign("old", 6, 5), foreign("new", 4, 5))
        observe(ledger, home, foreign("old", 7, 6), foreign("new", 7, 6))
        [first], [old], [new] = (
            ledger.index.find("there", id) for id in ("first look", "old", "new")
        )
        assert spans(ledger, first) == [("log", 4, 5, PENDING)]
        assert spans(ledger, old) == [("log", 4, 7, PENDING)]
        assert spans(ledger, new) == [("log", 0, 7, PENDING)]

    def test_what_was_made_up_for_stays_owed_when_more_is_said(self, ledger: Ledger) -> None:
        home = ledger.homes.attach("there", "hermes", "/there", "host", False)
        ledger.homes.store(home, Sighting(seen=(foreign("old", 4, -5),), mark={}), None, NOON)
        rule(ledger, LOG)
        assert ledger.backfill.owe("log", at(-9), 9, at(1)) == 1
        observe(ledger, home, foreign("old", 6, 5))
        [old] = ledger.index.find("there", "old")
        assert spans(ledger, old) == [("log", 0, 6, PENDING)]

    def test_a_finalized_session_to_which_more_is_said_has_something_left_to_do(
        self, ledger: Ledger
    ) -> None:
        rule(ledger, LOG)
        enrol(ledger, "keeper")
        home = attached(ledger)
        observe(ledger, home, foreign("a", 4, 2))
        [taken] = claim(ledger)
        assert ledger.finalizing.finish(taken, "fine", at(3))
        [session] = ledger.index.find("there", "a")
        assert session.state is State.FINALIZED
        observe(ledger, home, foreign("a", 5, 4))
        assert reread(ledger, session).state is State.ENDED
        assert spans(ledger, session) == [("log", 0, 4, DONE), ("log", 4, 5, PENDING)]
