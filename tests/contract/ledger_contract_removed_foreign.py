"""What every ledger promises about sessions that were removed from a foreign home."""

from __future__ import annotations

from typing import Any

from sexton.core.record import replace
from sexton.core.session import NATIVE, Session, State
from sexton.homes.home_ports import HomeRecord, Sighting
from sexton.retention.model import Part, VaultFile
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_removal_samples import (
    alone,
    intended,
    move,
    move_of,
    over,
    purge,
    put_back,
    restoring,
    settled,
    trashed,
)
from tests.contract.ledger_contract_samples import at, born, reread


class ForeignRemovedContract:
    """The ledger has no messages of them; their rows stay, whatever is seen in the home."""

    def test_it_is_known_by_its_row_only_until_it_comes_back(self, ledger: Ledger) -> None:
        home, session = _observed(ledger)
        file = _trashed(ledger, session)
        assert reread(ledger, session).state is State.TRASHED
        assert ledger.homes.ids(home, open_only=False) == ["other"]
        back = Part(session.ref, (), State.ENDED)
        assert put_back(ledger, restoring(ledger, file), [back]) == {session.ref}
        assert reread(ledger, session) == session, "although no message of it is here"
        assert sorted(ledger.homes.ids(home, open_only=False)) == ["it", "other"]

    def test_its_home_is_counted_without_it(self, ledger: Ledger) -> None:
        home, session = _observed(ledger)
        _trashed(ledger, session)
        own = over(ledger)
        trashed(ledger, own, name="own")
        native = next(each for each in ledger.homes.all() if each.name == NATIVE)
        census = ledger.homes.census
        assert sum(each.sessions for each in census.cohorts(home, at(60))) == 1
        assert [each.id for each in census.biggest(home, 9)] == ["other"]
        states = {each.state for each in census.cohorts(native, at(60))}
        assert State.TRASHED in states, "what is our own is told with what became of it"
        assert own.id in [each.id for each in census.biggest(native, 9)]

    def test_what_is_seen_of_it_in_its_home_changes_nothing_while_it_is_away(
        self, ledger: Ledger
    ) -> None:
        home, session = _observed(ledger)
        _trashed(ledger, session)
        seen = replace(session, ref=0, message_count=9, title="another title")
        ledger.homes.store(home, Sighting(seen=(seen,)), None, at(60))
        ledger.homes.grown(session.ref, 9)
        found = reread(ledger, session)
        assert (found.state, found.message_count, found.title) == (State.TRASHED, 3, None)

    def test_that_it_is_gone_from_its_home_does_not_make_it_forgotten(self, ledger: Ledger) -> None:
        home, session = _observed(ledger)
        file = _trashed(ledger, session)
        ledger.homes.store(home, Sighting(gone=("it", "other")), None, at(60))
        assert reread(ledger, session).state is State.TRASHED
        assert ledger.homes.ids(home, open_only=False) == []
        assert purge(ledger, file, at(2000)) is not None
        ledger.homes.store(home, Sighting(gone=("it",)), None, at(2001))
        assert reread(ledger, session).state is State.PURGED, "its row is its tombstone"
        assert ledger.homes.ids(home, open_only=False) == []

    def test_a_pin_keeps_files_of_its_own_home_only(self, ledger: Ledger) -> None:
        home, session = _observed(ledger)
        own = over(ledger)
        ledger.homes.store(home, Sighting(seen=(replace(session, ref=0, id=own.id),)), None, at(5))
        [twin] = ledger.index.find("there", own.id)
        ledger.book.mark(twin.ref, pinned=True)
        there = alone(ledger, session, home="there")
        assert purge(ledger, alone(ledger, own), at(5000), own.id) is not None
        assert purge(ledger, there, at(5000), own.id) is None

    def test_one_that_was_purged_and_appears_again_is_there_again(self, ledger: Ledger) -> None:
        home, session = _observed(ledger)
        goes_on: dict[str, Any] = {"state": State.OPEN, "ended_at": None, "end_reason": None}
        for number, again in enumerate((session, replace(session, **goes_on))):
            file = _trashed(ledger, reread(ledger, session), f"{number}")
            assert purge(ledger, file, at(2000)) is not None
            ledger.homes.store(home, Sighting(seen=(replace(again, ref=0),)), None, at(2001))
            assert reread(ledger, session).state is again.state


def _observed(ledger: Ledger) -> tuple[HomeRecord, Session]:
    """A foreign home and an ended session of it, beside another one."""
    home = ledger.homes.attach("there", "hermes", "/there", "host", True)
    ended: dict[str, Any] = {"state": State.ENDED, "ended_at": at(3), "end_reason": "cli_close"}
    told = replace(born(ledger), ref=0, home="there", id="it", message_count=3, holders=(), **ended)
    other = replace(told, id="other")
    ledger.homes.store(home, Sighting(seen=(told, other)), None, at(4))
    return home, ledger.index.find("there", "it")[0]


def _trashed(ledger: Ledger, session: Session, name: str = "file") -> VaultFile:
    file = intended(ledger, name, home="there")
    moved = move(ledger, file, move_of(session, stored=0), at_once=True)
    assert moved == {session.ref}
    return settled(ledger, file)
