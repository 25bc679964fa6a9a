"""What every ledger promises when sessions are removed, used and had back at the same moment."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sexton.core.session import Session, State
from sexton.finalizers.model import Finalization, FinalizationState
from sexton.retention.model import Part, VaultFile, VaultState
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_finalizing_samples import LOG, owed, rule
from tests.contract.ledger_contract_removal_samples import (
    ME,
    given_up,
    intended,
    move,
    move_of,
    over,
    parts_of,
    purge,
    put_back,
    restoring,
    state,
    trashed,
)
from tests.contract.ledger_contract_reviving import reap, reap_of, revive
from tests.contract.ledger_contract_samples import NOON, at, born, enrol, heard, race, reread, say

ROUNDS = 12
LATER = at(40 * 86400)


def moves(ledger: Ledger, file: VaultFile, *sessions: Session) -> int:
    return len(move(ledger, file, *map(move_of, sessions)))


def revives(ledger: Ledger, session: Session, heir: str) -> int:
    return int(revive(ledger, session, heir) is not None)


def owes(ledger: Ledger) -> int:
    return ledger.backfill.owe("log", NOON, 1000, at(99))


def pins(ledger: Ledger, session: Session) -> int:
    return int(ledger.book.mark(session.ref, pinned=True))


def purges(ledger: Ledger, kept: VaultFile) -> int:
    return int(purge(ledger, kept, LATER) is not None)


def takes(ledger: Ledger, kept: VaultFile) -> int:
    return int(ledger.removal.turn(kept, VaultState.RESTORING, ME) is not None)


def decides(ledger: Ledger, work: Finalization, wanted: FinalizationState) -> int:
    return int(ledger.finalizing.decide(work.ref, wanted, LATER))


def clears(ledger: Ledger, file: VaultFile, session: Session) -> int:
    return ledger.removal.clear_some(file, session.ref, 7) or 0


def brings_back(ledger: Ledger, file: VaultFile, parts: Sequence[Part]) -> int:
    kept = ledger.removal.turn(current(ledger, file), VaultState.KEPT, None)
    assert kept is not None
    return len(put_back(ledger, restoring(ledger, kept, "heir"), parts))


def current(ledger: Ledger, file: VaultFile) -> VaultFile:
    """The file as it is now."""
    [found] = [each for each in ledger.vault.unfinished("host") if each.ref == file.ref]
    return found


class RemovalRacesContract:
    """Whoever meets, a session is in one place only, with every message."""

    def test_a_session_is_removed_once_however_many_collect_together(self, ledger: Ledger) -> None:
        for turn in range(ROUNDS):
            sessions = [over(ledger, 2) for _ in range(5)]
            files = [intended(ledger, f"{turn} {each}") for each in range(4)]
            moved = race([partial(moves, ledger, file, *sessions) for file in files])
            assert sum(moved) == len(sessions)
            assert [len(ledger.vault.inside(file)) for file in files] == moved

    def test_a_session_that_is_revived_while_it_is_removed_is_here_or_there(
        self, ledger: Ledger
    ) -> None:
        for turn in range(ROUNDS):
            begun = born(ledger, None, worker=enrol(ledger, f"owner {turn}"))
            assert say(ledger, begun, "one", "two")
            assert reap(ledger, reap_of(reread(ledger, begun))) == [True]
            session, heir = reread(ledger, begun), enrol(ledger, f"heir {turn}")
            going = partial(moves, ledger, intended(ledger, f"{turn}"), session)
            moved, revived = race([going, partial(revives, ledger, session, heir)])
            assert moved + revived == 1
            assert state(ledger, session) is (State.TRASHED if moved else State.OPEN)

    def test_work_that_is_owed_at_the_same_moment_keeps_its_session(self, ledger: Ledger) -> None:
        for turn in range(ROUNDS * 2):
            rule(ledger)
            session = over(ledger, 2)
            rule(ledger, LOG)
            going = partial(moves, ledger, intended(ledger, f"{turn}"), session)
            moved, added = race([going, partial(owes, ledger)])
            assert moved + added <= 1
            assert len(owed(ledger, session)) == added
            for work in owed(ledger, session):
                assert decides(ledger, work, FinalizationState.DONE)

    def test_a_pin_keeps_what_is_not_purged_at_that_very_moment(self, ledger: Ledger) -> None:
        for turn in range(ROUNDS):
            session = over(ledger)
            kept = trashed(ledger, session, name=f"{turn}")
            doomed, _ = race([partial(purges, ledger, kept), partial(pins, ledger, session)])
            assert state(ledger, session) is (State.PURGED if doomed else State.TRASHED)
            assert (ledger.vault.of_session(session.ref) is None) is bool(doomed)

    def test_work_is_taken_up_again_or_its_session_is_purged(self, ledger: Ledger) -> None:
        for turn in range(ROUNDS):
            session = given_up(ledger)
            [dead] = owed(ledger, session)
            kept = trashed(ledger, session, name=f"{turn}")
            again = partial(decides, ledger, dead, FinalizationState.PENDING)
            doomed, pending = race([partial(purges, ledger, kept), again])
            assert doomed + pending == 1
            assert len(owed(ledger, session)) == pending
            for work in owed(ledger, session):
                assert decides(ledger, work, FinalizationState.DONE)

    def test_an_undo_and_an_emptying_agree(self, ledger: Ledger) -> None:
        for turn in range(ROUNDS):
            session = over(ledger, 2)
            parts = parts_of(ledger, session)
            kept = trashed(ledger, session, name=f"{turn}")
            doomed, taken = race([partial(purges, ledger, kept), partial(takes, ledger, kept)])
            assert doomed + taken == 1
            if taken:
                assert put_back(ledger, current(ledger, kept), parts) == {session.ref}
                assert len(heard(ledger, session)) == 2

    def test_whoever_still_clears_takes_nothing_from_what_is_brought_back(
        self, ledger: Ledger
    ) -> None:
        for turn in range(ROUNDS):
            session = over(ledger, 30)
            parts = parts_of(ledger, session)
            file = intended(ledger, f"{turn}")
            assert moves(ledger, file, session)
            slow = partial(clears, ledger, current(ledger, file), session)
            _, back = race([slow, partial(brings_back, ledger, file, parts)])
            assert back == 1
            assert len(heard(ledger, session)) == 30
