"""What every ledger promises about having removed sessions back, and about purging them."""

from __future__ import annotations

from datetime import timedelta

from sexton.core.message import draft
from sexton.core.session import State
from sexton.finalizers.model import FinalizationState
from sexton.retention.model import Part, VaultKind, VaultState
from sexton.sessions.model import Batch
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_finalizing_samples import LOG, owed, rule
from tests.contract.ledger_contract_removal_samples import (
    ME,
    RECEIPT,
    alone,
    given_up,
    over,
    parts_of,
    purge,
    put_back,
    restoring,
    state,
    trashed,
    unread,
)
from tests.contract.ledger_contract_samples import (
    NO_RULES,
    NOON,
    at,
    born,
    heard,
    journal,
    reread,
)

DAY = timedelta(days=1)


class RestoringContract:
    """What was removed comes back as it was, whole."""

    def test_a_session_comes_back_exactly_as_it_was(self, ledger: Ledger) -> None:
        session = over(ledger, 4, key="talk", title="a title")
        before, said = ledger.removable.rows([session.ref]), heard(ledger, session)
        parts = parts_of(ledger, session)
        file = restoring(ledger, trashed(ledger, session))
        assert put_back(ledger, file, parts) == {session.ref}
        assert ledger.removable.rows([session.ref]) == before
        assert heard(ledger, session) == said
        assert ledger.vault.inside(file) == []
        entry = journal(ledger, session)[0]
        assert (entry.action, entry.reason.code, entry.receipt) == ("restore", "undo", RECEIPT)

    def test_what_was_archived_comes_back_as_what_it_was(self, ledger: Ledger) -> None:
        for before in (State.ENDED, State.FINALIZED):
            session = over(ledger, 2)
            parts = [part._replace(state=before) for part in parts_of(ledger, session)]
            file = trashed(ledger, session, name=before, kind=VaultKind.ARCHIVE)
            assert state(ledger, session) is State.ARCHIVED
            assert put_back(ledger, restoring(ledger, file), parts) == {session.ref}
            assert state(ledger, session) is before

    def test_a_big_one_comes_back_in_parts_and_is_seen_with_the_last(self, ledger: Ledger) -> None:
        session = over(ledger, 5)
        [whole] = parts_of(ledger, session)
        file = restoring(ledger, trashed(ledger, session))
        first = Part(session.ref, whole.messages[:3], None)
        assert put_back(ledger, file, [first]) == frozenset()
        assert "sexton undo" in unread(ledger, session)
        rest = Part(session.ref, whole.messages[3:], whole.state)
        assert put_back(ledger, file, [rest]) == {session.ref}
        assert [each.seq for each in heard(ledger, session)] == [1, 2, 3, 4, 5]

    def test_others_in_its_file_stay_there(self, ledger: Ledger) -> None:
        session, other = over(ledger, 2), over(ledger, 2)
        [one, two] = parts_of(ledger, session, other)
        file = restoring(ledger, trashed(ledger, session, other))
        files = [file, trashed(ledger, over(ledger), name="third"), alone(ledger, over(ledger))]
        assert list(ledger.vault.left(files).values()) == [2, 1, 1]
        assert put_back(ledger, file, [one, two._replace(state=None)]) == {session.ref}
        assert state(ledger, other) is State.TRASHED
        assert list(ledger.vault.left(files).values()) == [1, 1, 1]

    def test_what_is_put_back_again_after_a_crash_is_there_once(self, ledger: Ledger) -> None:
        session = over(ledger, 3)
        [whole] = parts_of(ledger, session)
        file = restoring(ledger, trashed(ledger, session))
        assert put_back(ledger, file, [Part(session.ref, whole.messages, None)]) == frozenset()
        assert put_back(ledger, file, [whole]) == {session.ref}
        assert put_back(ledger, file, [whole]) == frozenset()
        assert len(heard(ledger, session)) == 3

    def test_a_session_that_is_not_whole_stays_where_it_is(self, ledger: Ledger) -> None:
        session, other = over(ledger, 3), over(ledger)
        [whole, fine] = parts_of(ledger, session, other)
        file = restoring(ledger, trashed(ledger, session, other))
        half = Part(session.ref, whole.messages[:2], whole.state)
        assert put_back(ledger, file, [half, fine]) == {other.ref}
        assert state(ledger, session) is State.TRASHED
        assert [each.id for each in ledger.vault.inside(file)] == [session.id]

    def test_what_is_in_another_file_or_here_already_is_left_alone(self, ledger: Ledger) -> None:
        first, second, here = over(ledger, 2), over(ledger, 2), over(ledger, 2)
        parts = parts_of(ledger, first, second, here)
        trashed(ledger, first, name="other")
        file = restoring(ledger, trashed(ledger, second))
        changed = [part._replace(state=State.FINALIZED) for part in parts]
        assert put_back(ledger, file, changed) == {second.ref}
        assert state(ledger, first) is State.TRASHED
        assert state(ledger, here) is State.ENDED
        assert ledger.removable.messages([first.ref]) == {}

    def test_only_who_has_taken_a_file_on_brings_back_what_is_in_it(self, ledger: Ledger) -> None:
        session = over(ledger)
        parts = parts_of(ledger, session)
        kept = trashed(ledger, session)
        assert put_back(ledger, kept, parts) == frozenset()
        taken = restoring(ledger, kept)
        assert ledger.removal.turn(kept, VaultState.RESTORING, "other") is None
        heir = ledger.removal.turn(taken, VaultState.RESTORING, "heir")
        assert heir is not None
        assert put_back(ledger, taken, parts) == frozenset()
        assert put_back(ledger, heir, parts) == {session.ref}

    def test_a_file_goes_when_nothing_is_in_it_any_more(self, ledger: Ledger) -> None:
        session = over(ledger)
        parts = parts_of(ledger, session)
        file = restoring(ledger, trashed(ledger, session))
        put_back(ledger, file, parts)
        removing = ledger.removal.turn(file, VaultState.REMOVING, ME)
        assert removing is not None
        assert ledger.removal.forget(removing)
        assert ledger.vault.of_receipt(RECEIPT) == []

    def test_work_that_was_done_before_is_not_owed_again(self, ledger: Ledger) -> None:
        session = given_up(ledger)
        parts, before = parts_of(ledger, session), owed(ledger)
        file = restoring(ledger, trashed(ledger, session))
        assert put_back(ledger, file, parts) == {session.ref}
        assert owed(ledger) == before
        assert state(ledger, session) is State.FINALIZED

    def test_a_session_that_came_back_can_owe_later_work(self, ledger: Ledger) -> None:
        session = over(ledger, 3)
        parts = parts_of(ledger, session)
        put_back(ledger, restoring(ledger, trashed(ledger, session)), parts)
        rule(ledger, LOG)
        assert ledger.backfill.owe("log", at(0), 10, at(99)) == 1


class PurgingContract:
    """Only trash whose time is over is given up, and of it the row stays."""

    def test_expired_trash_is_purged_and_its_row_tells_nothing_of_what_was_said(
        self, ledger: Ledger
    ) -> None:
        begun, other = born(ledger, None, title="secret"), over(ledger)
        drafts = [draft("user", "secret")] * 3
        batch = Batch(session=begun, drafts=drafts, schedule=NO_RULES, preview="secret")
        assert ledger.messages.append(batch, NOON)
        assert ledger.book.end_now(begun, "closed", at(1))
        session = reread(ledger, begun)
        kept = trashed(ledger, session, expires_at=at(100))
        trashed(ledger, other, name="other", expires_at=at(200))
        doomed = purge(ledger, kept, at(100))
        assert doomed is not None
        assert (doomed.state, doomed.worker) == (VaultState.REMOVING, ME)
        now = reread(ledger, session)
        assert (now.state, now.title, now.preview) == (State.PURGED, None, None)
        assert (now.message_count, now.end_reason) == (3, "closed")
        assert state(ledger, other) is State.TRASHED
        assert ledger.vault.of_session(session.ref) is None
        assert "gone" in unread(ledger, session)
        assert journal(ledger, session)[0].action == "purge"
        assert ledger.removal.forget(doomed)

    def test_trash_is_not_purged_before_its_time(self, ledger: Ledger) -> None:
        session = over(ledger)
        kept = trashed(ledger, session, expires_at=at(100))
        assert ledger.vault.expired(VaultKind.TRASH, "host", at(99), 10) == []
        assert ledger.vault.expired(VaultKind.TRASH, "elsewhere", at(100), 10) == []
        assert ledger.vault.expired(VaultKind.TRASH, "host", at(100), 10) == [kept]
        assert purge(ledger, kept, at(99)) is None
        assert state(ledger, session) is State.TRASHED

    def test_the_oldest_trash_is_found_first_and_no_more_than_asked_for(
        self, ledger: Ledger
    ) -> None:
        late = trashed(ledger, over(ledger), name="late", expires_at=at(90))
        early = trashed(ledger, over(ledger), name="early", expires_at=at(80))
        assert ledger.vault.expired(VaultKind.TRASH, "host", at(100), 10) == [early, late]
        assert ledger.vault.expired(VaultKind.TRASH, "host", at(100), 1) == [early]
        restoring(ledger, early)
        assert ledger.vault.expired(VaultKind.TRASH, "host", at(100), 10) == [late]

    def test_an_archive_is_never_purged(self, ledger: Ledger) -> None:
        session = over(ledger)
        kept = trashed(ledger, session, kind=VaultKind.ARCHIVE, expires_at=at(1))
        assert ledger.vault.expired(VaultKind.TRASH, "host", at(100), 10) == []
        assert purge(ledger, kept, at(100)) is None

    def test_a_file_that_is_being_restored_is_not_purged(self, ledger: Ledger) -> None:
        kept = trashed(ledger, over(ledger))
        restoring(ledger, kept)
        assert purge(ledger, kept, at(5000)) is None

    def test_a_pin_keeps_a_whole_file_from_being_purged(self, ledger: Ledger) -> None:
        first, second = over(ledger), over(ledger)
        kept = trashed(ledger, first, second)
        ledger.book.mark(second.ref, pinned=True)
        elsewhere = trashed(ledger, over(ledger), name="other")
        assert purge(ledger, kept, at(5000)) is None
        assert purge(ledger, elsewhere, at(5000)) is not None
        assert state(ledger, first) is State.TRASHED

    def test_a_pin_keeps_the_files_of_a_session_that_stayed_itself(self, ledger: Ledger) -> None:
        pinned, other = over(ledger), over(ledger)
        kept, free = alone(ledger, pinned), alone(ledger, other)
        ledger.book.mark(pinned.ref, pinned=True)
        assert purge(ledger, kept, at(5000), pinned.id) is None
        assert purge(ledger, free, at(5000), other.id) is not None
        ledger.book.mark(pinned.ref, pinned=False)
        assert purge(ledger, kept, at(5000), pinned.id) is not None

    def test_work_that_is_taken_up_again_keeps_a_file_from_being_purged(
        self, ledger: Ledger
    ) -> None:
        session = given_up(ledger)
        kept = trashed(ledger, session, expires_at=at(100))
        assert purge(ledger, kept, at(5000)) is None  # given up an hour after noon
        [dead] = owed(ledger)
        assert ledger.finalizing.decide(dead.ref, FinalizationState.PENDING, at(6000))
        later = at(3600) + 40 * DAY
        assert purge(ledger, kept, later) is None
        [taken] = ledger.finalizing.claim("keeper", ["log"], 1, at(7000))
        assert purge(ledger, kept, later) is None
        assert ledger.finalizing.finish(taken, "fine", at(7000))
        assert purge(ledger, kept, later) is not None
        assert owed(ledger) == []

    def test_work_given_up_long_ago_keeps_nothing(self, ledger: Ledger) -> None:
        session, other = given_up(ledger), given_up(ledger)
        kept = trashed(ledger, session)
        assert purge(ledger, kept, at(3599) + 30 * DAY) is None
        assert purge(ledger, kept, at(3600) + 30 * DAY) is not None
        assert [each.session for each in owed(ledger)] == [other.id]

    def test_what_was_purged_stays_purged(self, ledger: Ledger) -> None:
        session = over(ledger)
        parts = parts_of(ledger, session)
        doomed = purge(ledger, trashed(ledger, session), at(5000))
        assert doomed is not None
        assert put_back(ledger, doomed, parts) == frozenset()
        assert ledger.removal.turn(doomed, VaultState.RESTORING, ME) is not None
        [again] = ledger.vault.unfinished("host")
        assert put_back(ledger, again, parts) == frozenset()
        assert state(ledger, session) is State.PURGED
