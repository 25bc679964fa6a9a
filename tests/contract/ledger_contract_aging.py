"""What every ledger promises about archives that are not kept for ever."""

from __future__ import annotations

from datetime import datetime, timedelta

from sexton.core.plan import Reason
from sexton.core.session import State
from sexton.retention.model import End, VaultFile, VaultKind
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_removal_samples import (
    RECEIPT,
    alone,
    over,
    purge,
    restoring,
    state,
    trashed,
)
from tests.contract.ledger_contract_samples import NOON, at, entry, journal

ARCHIVE = VaultKind.ARCHIVE


class AgingContract:
    """An archive whose time is over goes to the trash first, and can be had back from there."""

    def test_archives_are_kept_for_ever_until_they_have_an_age(self, ledger: Ledger) -> None:
        kept = trashed(ledger, over(ledger), kind=ARCHIVE, expires_at=None)
        trash = trashed(ledger, over(ledger), name="trash", expires_at=at(500))
        trashed(ledger, over(ledger), name="far", kind=ARCHIVE, host="far", expires_at=None)
        assert ledger.vault.expired(ARCHIVE, "host", at(10**6), 10) == []
        ledger.vault.expire_archives("host", timedelta(seconds=95))
        assert ledger.vault.expired(ARCHIVE, "host", at(99), 10) == []
        assert [each.ref for each in ledger.vault.expired(ARCHIVE, "host", at(100), 10)] == [
            kept.ref
        ]
        assert ledger.vault.expired(ARCHIVE, "far", at(10**6), 10) == []
        assert ledger.vault.expired(VaultKind.TRASH, "host", at(500), 10) == [trash]
        ledger.vault.expire_archives("host", None)
        assert ledger.vault.expired(ARCHIVE, "host", at(10**6), 10) == []

    def test_an_old_archive_goes_to_the_trash_with_all_that_is_in_it(self, ledger: Ledger) -> None:
        first, second, other = over(ledger), over(ledger), over(ledger)
        kept = trashed(ledger, first, second, kind=ARCHIVE, expires_at=at(50))
        trashed(ledger, other, name="other", kind=ARCHIVE, expires_at=at(90))
        gone = discard(ledger, kept, at(60))
        assert gone is not None
        assert (gone.kind, gone.receipt, gone.expires_at) == (VaultKind.TRASH, RECEIPT, at(1000))
        states = [state(ledger, each) for each in (first, second, other)]
        assert states == [State.TRASHED, State.TRASHED, State.ARCHIVED]
        assert [each.ref for each in ledger.vault.of_receipt(RECEIPT)][:1] == [kept.ref]
        assert ledger.removable.removed_on("native", NOON.date()) == 2
        assert journal(ledger, first)[0].action == "discard"
        assert purge(ledger, gone, at(999)) is None
        assert purge(ledger, gone, at(1000)) is not None
        assert state(ledger, first) is State.PURGED

    def test_an_archive_whose_time_is_not_over_stays(self, ledger: Ledger) -> None:
        session, lasting = over(ledger), over(ledger)
        kept = trashed(ledger, session, kind=ARCHIVE, expires_at=at(50))
        ever = trashed(ledger, lasting, name="ever", kind=ARCHIVE, expires_at=None)
        assert discard(ledger, kept, at(49)) is None
        assert discard(ledger, ever, at(10**6)) is None
        assert state(ledger, session) is state(ledger, lasting) is State.ARCHIVED

    def test_what_is_no_archive_or_in_the_hands_of_somebody_is_not_discarded(
        self, ledger: Ledger
    ) -> None:
        trash = trashed(ledger, over(ledger), expires_at=at(50))
        held = trashed(ledger, over(ledger), name="held", kind=ARCHIVE, expires_at=at(50))
        restoring(ledger, held)
        assert discard(ledger, trash, at(60)) is None
        assert discard(ledger, held, at(60)) is None

    def test_an_archive_with_a_pinned_session_stays_and_no_other_for_it(
        self, ledger: Ledger
    ) -> None:
        pinned, other = over(ledger), over(ledger)
        kept = trashed(ledger, pinned, kind=ARCHIVE, expires_at=at(50))
        free = trashed(ledger, other, name="free", kind=ARCHIVE, expires_at=at(50))
        ledger.book.mark(pinned.ref, pinned=True)
        assert discard(ledger, kept, at(60)) is None
        assert discard(ledger, free, at(60)) is not None
        assert state(ledger, pinned) is State.ARCHIVED

    def test_files_alone_count_and_are_told_of_by_the_names_of_their_sessions(
        self, ledger: Ledger
    ) -> None:
        session = over(ledger)
        file = alone(ledger, session, kind=ARCHIVE, expires_at=at(50))
        assert discard(ledger, file, at(60), session.id) is not None
        assert ledger.removable.removed_on("native", NOON.date()) == 1
        assert [each.action for each in journal(ledger, session)[:2]] == ["discard", "remove_files"]
        assert state(ledger, session) is session.state

    def test_files_alone_stay_archived_while_their_session_is_pinned(self, ledger: Ledger) -> None:
        session = over(ledger)
        file = alone(ledger, session, kind=ARCHIVE, expires_at=at(50))
        ledger.book.mark(session.ref, pinned=True)
        assert discard(ledger, file, at(60), session.id) is None
        ledger.book.mark(session.ref, pinned=False)
        assert discard(ledger, file, at(60), session.id) is not None


def discard(ledger: Ledger, file: VaultFile, now: datetime, *owners: str) -> VaultFile | None:
    """Put the archive into the trash for a while."""
    said = entry(action="discard", receipt=RECEIPT, reason=Reason("archive_age", "too old"))
    return ledger.removal.discard(End(file=file, entry=said, owners=owners), at(1000), now)
