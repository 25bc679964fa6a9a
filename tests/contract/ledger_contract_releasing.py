"""What every ledger promises about files that go while their sessions stay."""

from __future__ import annotations

from datetime import timedelta

from sexton.retention.model import Holds, VaultState
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_finalizing_samples import LOG, ended, rule
from tests.contract.ledger_contract_removal_samples import (
    FIGURES,
    ME,
    RECEIPT,
    intended,
    over,
    release,
)
from tests.contract.ledger_contract_samples import NOON, born, journal, reread, seen


class ReleasingContract:
    """Files of sessions that still are as they were planned are let go together."""

    def test_files_of_sessions_that_are_as_seen_may_go_and_the_journal_tells(
        self, ledger: Ledger
    ) -> None:
        one, other = over(ledger), over(ledger)
        file = intended(ledger, holds=Holds.FILES)
        nobody = seen(one, ref=0, id="nobody")
        assert release(ledger, file, seen(one), seen(other), nobody) == frozenset()
        [turned] = ledger.vault.unfinished("host")
        assert (turned.state, turned.written) == (VaultState.CLEARING, FIGURES)
        told = [each for each in journal(ledger) if each.action == "remove_files"]
        assert {each.session for each in told} == {one.id, other.id, "nobody"}
        assert {(each.receipt, each.home) for each in told} == {(RECEIPT, "native")}

    def test_if_one_is_not_as_seen_none_may_go(self, ledger: Ledger) -> None:
        one, good, pinned = over(ledger), over(ledger), over(ledger)
        opened = reread(ledger, born(ledger, "open"))
        ledger.book.mark(pinned.ref, pinned=True)
        rule(ledger, LOG)
        owing = reread(ledger, ended(ledger))
        file = intended(ledger, holds=Holds.FILES)
        later = one.active_at + timedelta(microseconds=1)
        for wrong in (
            seen(opened),
            seen(pinned),
            seen(owing),
            seen(one, epoch=one.epoch + 1),
            seen(one, active_at=later),
        ):
            assert release(ledger, file, seen(good), wrong) == frozenset({wrong.ref})
        assert ledger.vault.unfinished("host") == [file]
        assert not [each for each in journal(ledger) if each.action == "remove_files"]

    def test_whoever_lost_the_file_lets_nothing_go(self, ledger: Ledger) -> None:
        session = over(ledger)
        file = intended(ledger, holds=Holds.FILES)
        assert ledger.removal.turn(file, VaultState.WRITING, "another")
        assert release(ledger, file, seen(session)) is None
        [lost] = ledger.vault.unfinished("host")
        assert (lost.state, lost.worker) == (VaultState.WRITING, "another")
        assert lost.worker != ME

    def test_what_goes_without_a_persons_word_counts_against_its_day_too(
        self, ledger: Ledger
    ) -> None:
        day = NOON.date()
        for number, when in enumerate((day, None)):
            file = intended(ledger, f"{number}", holds=Holds.FILES)
            going = [seen(over(ledger)) for _ in range(2)]
            assert release(ledger, file, *going, day=when) == frozenset()
        assert ledger.removable.removed_on("native", day) == 2
