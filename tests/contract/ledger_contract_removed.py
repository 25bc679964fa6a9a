"""What every ledger promises about a session of which only the row is left."""

from __future__ import annotations

from sexton.core.session import State
from sexton.finalizers.model import FinalizationState
from sexton.retention.model import VaultKind
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_finalizing_samples import LOG, claim, owed, rule
from tests.contract.ledger_contract_removal_samples import (
    given_up,
    intended,
    move,
    move_of,
    over,
    settled,
    state,
    trashed,
    unread,
)
from tests.contract.ledger_contract_reviving import GONE, reap, reap_of, revive
from tests.contract.ledger_contract_samples import (
    NOON,
    at,
    born,
    enrol,
    entry,
    everything,
    reread,
    say,
    seen,
)

ARCHIVE = VaultKind.ARCHIVE


class RemovedContract:
    """A removed session is known, and nobody takes it for one that is here."""

    def test_reading_it_says_how_to_have_it_back(self, ledger: Ledger) -> None:
        session, archived = over(ledger, 2), over(ledger)
        assert move(ledger, intended(ledger), move_of(session))
        assert "sexton undo receipt" in unread(ledger, session)
        [file] = ledger.vault.unfinished("host")
        settled(ledger, file)
        assert ledger.vault.unfinished("host") == []
        assert session.id in ledger.homes.ids(ledger.homes.all()[0], open_only=False)
        assert "sexton undo receipt" in unread(ledger, session)
        trashed(ledger, archived, name="other", kind=ARCHIVE)
        assert f"archive restore {archived.id}" in unread(ledger, archived)

    def test_lists_go_on_with_it_and_all_that_was_counted(self, ledger: Ledger) -> None:
        session = over(ledger, 3)
        [before] = everything(ledger)
        trashed(ledger, session)
        [after] = everything(ledger)
        assert (after.id, after.state) == (session.id, State.TRASHED)
        assert (after.message_count, after.byte_count) == (3, before.byte_count)

    def test_it_can_be_neither_written_nor_ended_nor_revived(self, ledger: Ledger) -> None:
        begun = born(ledger, "talk", worker=enrol(ledger, "owner"))
        assert reap(ledger, reap_of(reread(ledger, begun))) == [True]
        session = reread(ledger, begun)
        trashed(ledger, session)
        assert revive(ledger, session, enrol(ledger, "heir")) is None
        assert say(ledger, session, "more") is None
        assert not ledger.book.end(seen(session), GONE, entry(session), at(99))
        assert ledger.book.current("talk") is None
        assert state(ledger, session) is State.TRASHED

    def test_its_key_begins_anew(self, ledger: Ledger) -> None:
        trashed(ledger, over(ledger, key="talk"))
        again = born(ledger, "talk")
        assert ledger.book.current("talk") == again

    def test_nothing_is_owed_again_for_being_removed(self, ledger: Ledger) -> None:
        session = over(ledger, 3)
        rule(ledger, LOG)
        trashed(ledger, session)
        assert owed(ledger) == []
        assert ledger.backfill.owe("log", NOON, 10, at(99)) == 0

    def test_given_up_work_of_an_archived_session_can_be_taken_up_again(
        self, ledger: Ledger
    ) -> None:
        session = given_up(ledger)
        trashed(ledger, session, kind=ARCHIVE)
        [dead] = owed(ledger, session)
        assert ledger.finalizing.decide(dead.ref, FinalizationState.PENDING, at(4000))
        [taken] = claim(ledger, now=at(5000))
        assert ledger.finalizing.finish(taken, "fine", at(5000))
        assert state(ledger, session) is State.ARCHIVED
