"""What every ledger promises about sessions on their way into the vault."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from sexton.core.record import replace
from sexton.core.session import State
from sexton.errors import HomeNotFound
from sexton.retention.model import Holds, VaultKind, VaultState
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_finalizing_samples import LOG, claim, rule
from tests.contract.ledger_contract_removal_samples import (
    FIGURES,
    KEPT,
    ME,
    RECEIPT,
    given_up,
    intended,
    move,
    move_of,
    over,
    state,
    trashed,
)
from tests.contract.ledger_contract_samples import (
    NOON,
    at,
    born,
    enrol,
    heard,
    journal,
    reread,
)

ARCHIVE = VaultKind.ARCHIVE
MISREMEMBERED: tuple[dict[str, Any], ...] = (
    {"epoch": 2},
    {"active_at": at(-1)},
    {"message_count": 1},
    {"turn_count": 1},
    {"last_seq": 3},
    {"stored": 1},
    {"state": State.FINALIZED},
)


class DepartureContract:
    """A session goes whole and as it was seen, or it stays."""

    def test_an_intent_is_there_before_its_file_and_goes_after_it(self, ledger: Ledger) -> None:
        file = intended(ledger, expires_at=at(77), source="cron")
        assert ledger.vault.unfinished("host") == [file]
        assert (file.state, file.worker, file.made_at) == (VaultState.WRITING, ME, at(5))
        assert (file.kind, file.holds, file.home) == (VaultKind.TRASH, Holds.SESSIONS, "native")
        assert (file.name, file.place, file.receipt) == ("file", "/vault", RECEIPT)
        assert (file.source, file.host, file.expires_at) == ("cron", "host", at(77))
        assert ledger.vault.unfinished("elsewhere") == []
        other = intended(ledger, "other")
        assert not ledger.removal.forget(replace(file, state=VaultState.REMOVING))
        assert not ledger.removal.forget(replace(file, worker="other"))
        assert ledger.removal.forget(file)
        assert ledger.vault.unfinished("host") == [other]
        assert not ledger.removal.forget(file)

    def test_nothing_is_written_for_a_home_that_nobody_knows(self, ledger: Ledger) -> None:
        with pytest.raises(HomeNotFound):
            intended(ledger, home="nowhere")

    def test_a_session_that_is_as_seen_is_removed_and_its_row_stays(self, ledger: Ledger) -> None:
        session, other = over(ledger, 3, title="a title"), over(ledger, 2)
        kept = trashed(ledger, session)
        now = reread(ledger, session)
        assert now.state is State.TRASHED
        assert (now.title, now.message_count, now.end_reason) == ("a title", 3, "closed")
        assert (kept.state, kept.worker, kept.written) == (KEPT, None, FIGURES)
        assert ledger.vault.of_session(session.ref) == kept
        assert ledger.vault.of_session(other.ref) is None
        assert [each.id for each in ledger.vault.inside(kept)] == [session.id]
        assert ledger.removable.messages([session.ref, other.ref]).keys() == {other.ref}
        assert len(heard(ledger, other)) == 2

    def test_the_journal_tells_of_each_session_with_the_receipt(self, ledger: Ledger) -> None:
        ledger.homes.attach("other", "hermes", "/other", "host", False)
        sessions = [over(ledger) for _ in range(3)]
        over(ledger)
        trashed(ledger, *sessions)
        found = ledger.journal.page(None, RECEIPT, None, 10)
        assert len(found) == 3
        assert {each.session for each in found} == {each.id for each in sessions}
        assert {(each.action, each.result, each.at) for each in found} == {
            ("trash", "done", at(10))
        }
        assert {(each.home, each.reason.code) for each in found} == {("native", "trivial")}

    def test_a_session_that_is_not_as_seen_stays(self, ledger: Ledger) -> None:
        for number, otherwise in enumerate(MISREMEMBERED):
            session = over(ledger, 2)
            file = intended(ledger, f"{number}")
            assert move(ledger, file, move_of(session, **otherwise)) == frozenset()
            assert state(ledger, session) is State.ENDED
            assert ledger.vault.unfinished("host") == [file]
            assert len(heard(ledger, session)) == 2
            assert journal(ledger, session) == []
            assert ledger.removal.forget(file)

    def test_neither_an_open_nor_a_removed_session_is_moved(self, ledger: Ledger) -> None:
        open_one, away = born(ledger, "talk"), over(ledger)
        trashed(ledger, away, name="first")
        file = intended(ledger)
        assert move(ledger, file, move_of(open_one), move_of(reread(ledger, away))) == frozenset()
        assert state(ledger, open_one) is State.OPEN

    def test_a_pinned_session_stays(self, ledger: Ledger) -> None:
        pinned = over(ledger)
        ledger.book.mark(pinned.ref, pinned=True)
        assert move(ledger, intended(ledger), move_of(pinned)) == frozenset()

    def test_a_session_that_owes_work_stays_until_it_is_done(self, ledger: Ledger) -> None:
        free = over(ledger)
        rule(ledger, LOG)
        enrol(ledger, "keeper")
        session, file = over(ledger), intended(ledger)
        assert move(ledger, file, move_of(session)) == frozenset()
        assert move(ledger, intended(ledger, "free"), move_of(free)) == {free.ref}
        [taken] = claim(ledger)
        assert move(ledger, file, move_of(session)) == frozenset()
        assert ledger.finalizing.finish(taken, "fine", at(3600))
        done = reread(ledger, session)
        assert move(ledger, file, move_of(done)) == {session.ref}

    def test_work_that_was_given_up_lately_keeps_a_session_out_of_the_trash_only(
        self, ledger: Ledger
    ) -> None:
        first, second = given_up(ledger), given_up(ledger)
        file = intended(ledger)
        assert move(ledger, file, move_of(first), spares=at(3599)) == frozenset()
        assert move(ledger, file, move_of(first), spares=at(3600)) == {first.ref}
        other = intended(ledger, "other", kind=ARCHIVE)
        assert move(ledger, other, move_of(second), state=State.ARCHIVED) == {second.ref}
        assert state(ledger, second) is State.ARCHIVED

    def test_of_a_conversation_all_go_or_none(self, ledger: Ledger) -> None:
        first, second, other = (over(ledger) for _ in range(3))
        ledger.book.mark(second.ref, pinned=True)
        moves = [move_of(first, 7), move_of(second, 7), move_of(other, 8)]
        assert move(ledger, intended(ledger), *moves) == {other.ref}
        assert state(ledger, first) is State.ENDED

    def test_messages_go_bit_by_bit_and_only_those_of_removed_sessions(
        self, ledger: Ledger
    ) -> None:
        going, staying, elsewhere = over(ledger, 5), over(ledger, 5), over(ledger, 5)
        file = intended(ledger)
        assert move(ledger, file, move_of(going))
        [clearing] = ledger.vault.unfinished("host")
        assert clearing.state is VaultState.CLEARING
        assert move(ledger, intended(ledger, "other"), move_of(elsewhere))
        some = partial(ledger.removal.clear_some, clearing)
        assert [some(staying.ref, 3), some(elsewhere.ref, 3)] == [0, 0]
        assert [some(going.ref, 3) for _ in range(3)] == [3, 2, 0]
        assert len(heard(ledger, staying)) == 5
        assert len(ledger.removable.messages([elsewhere.ref])[elsewhere.ref]) == 5

    def test_those_of_several_sessions_go_at_once(self, ledger: Ledger) -> None:
        first, second, left = (over(ledger, 2) for _ in range(3))
        staying, elsewhere = over(ledger, 2), over(ledger, 2)
        assert move(ledger, intended(ledger), *map(move_of, (first, second, left)))
        assert move(ledger, intended(ledger, "other"), move_of(elsewhere))
        clearing = ledger.vault.unfinished("host")[0]
        refs = [each.ref for each in (first, second, staying, elsewhere)]
        assert ledger.removal.clear(clearing, refs)
        found = ledger.removable.messages([*refs, left.ref])
        assert found.keys() == {staying.ref, elsewhere.ref, left.ref}

    def test_what_is_small_goes_at_once(self, ledger: Ledger) -> None:
        going, staying = over(ledger, 2), over(ledger, 2)
        ledger.book.mark(staying.ref, pinned=True)
        moves = [move_of(going), move_of(staying)]
        assert move(ledger, intended(ledger), *moves, at_once=True) == {going.ref}
        [file] = ledger.vault.unfinished("host")
        assert (file.state, file.written) == (VaultState.CLEARING, FIGURES)
        found = ledger.removable.messages([going.ref, staying.ref])
        assert found.keys() == {staying.ref}

    def test_what_is_in_one_file_may_go_in_several_steps(self, ledger: Ledger) -> None:
        first, second, late = (over(ledger, 2) for _ in range(3))
        assert move(ledger, intended(ledger), move_of(first)) == {first.ref}
        [file] = ledger.vault.unfinished("host")
        ledger.book.mark(late.ref, pinned=True)
        assert move(ledger, file, move_of(second), move_of(late)) == {second.ref}
        assert len(ledger.vault.inside(file)) == 2

    def test_whoever_was_taken_for_dead_changes_nothing_more(self, ledger: Ledger) -> None:
        first, second = over(ledger, 2), over(ledger, 2)
        file, _ = intended(ledger), intended(ledger, "other")
        heir = ledger.removal.turn(file, VaultState.WRITING, "heir")
        assert heir is not None
        assert move(ledger, file, move_of(first)) == frozenset()
        assert not ledger.removal.forget(file)
        assert ledger.removal.turn(file, KEPT, None) is None
        assert ledger.removal.turn(replace(heir, state=KEPT), KEPT, None) is None
        assert move(ledger, heir, move_of(first), move_of(second))
        clearing = ledger.vault.unfinished("host")[0]
        for lost in (replace(clearing, worker=ME), heir):  # it is not being written any more
            assert not ledger.removal.clear(lost, [first.ref])
            assert ledger.removal.clear_some(lost, first.ref, 10) is None
        assert ledger.removal.clear_some(clearing, first.ref, 10) == 2

    def test_a_file_of_another_home_says_so(self, ledger: Ledger) -> None:
        ledger.homes.attach("other", "hermes", "/other", "host", False)
        session = over(ledger)
        kept = trashed(ledger, session, home="other")
        assert kept.home == "other"
        assert ledger.vault.of_session(session.ref) == kept

    def test_a_row_stays_while_a_session_is_in_its_file(self, ledger: Ledger) -> None:
        session = over(ledger)
        kept = trashed(ledger, session)
        doomed = ledger.removal.turn(kept, VaultState.REMOVING, ME)
        assert doomed is not None
        assert not ledger.removal.forget(doomed)
        assert ledger.vault.of_session(session.ref) == doomed

    def test_figures_are_stored_with_a_file_that_holds_files_only(self, ledger: Ledger) -> None:
        file = intended(ledger, holds=Holds.FILES)
        other = intended(ledger, "other")
        turned = ledger.removal.turn(file, VaultState.CLEARING, ME, FIGURES)
        assert turned is not None
        assert (turned.written, turned.holds) == (FIGURES, Holds.FILES)
        assert ledger.vault.unfinished("host") == [turned, other]

    def test_what_goes_without_a_persons_word_counts_against_its_day(self, ledger: Ledger) -> None:
        day = NOON.date()
        count = partial(ledger.removable.removed_on, "native")
        for number in range(2):
            file = intended(ledger, f"{number}")
            moves = [move_of(over(ledger)), move_of(over(ledger))]
            assert len(move(ledger, file, *moves, day=day)) == 2
        assert move(ledger, intended(ledger, "by hand"), move_of(over(ledger)))
        assert (count(day), count(day + timedelta(days=1))) == (4, 0)
        assert ledger.removable.removed_on("elsewhere", day) == 0
        much_later = day + timedelta(days=91)
        assert move(ledger, intended(ledger, "later"), move_of(over(ledger)), day=much_later)
        assert (count(day), count(much_later)) == (0, 1)
