"""What every ledger promises about finding what may be removed."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sexton.core.session import Relation, Session, State
from sexton.retention.model import Member, Sieve, VaultKind, WantedFiles
from sexton.sessions.model import Place
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_finalizing_samples import LOG, claim, ended, rule
from tests.contract.ledger_contract_removal_samples import given_up, intended, over, trashed
from tests.contract.ledger_contract_samples import (
    NOON,
    at,
    born,
    enrol,
    heard,
    observe,
    reread,
    say,
)

MICROS = int(NOON.timestamp()) * 1_000_000


def active(ledger: Ledger, count: int, second: float, **facts: str) -> Session:
    """An ended session that was last active so long after noon."""
    begun = born(ledger, None, now=at(second), **facts)
    if count:
        assert say(ledger, begun, *["word"] * count, now=at(second))
    assert ledger.book.end_now(begun, "closed", at(9000))
    return reread(ledger, begun)


def candidates(
    ledger: Ledger,
    count: int,
    before: float = 5000,
    after: Place | None = None,
    limit: int = 100,
    source: str | None = None,
) -> list[str]:
    """The ids of sessions with so many messages that were active at a moment or before."""
    sieve = Sieve(count=count, before=at(before), source=source)
    return [each.id for each in ledger.removable.candidates("native", sieve, after, limit)]


def relatives(ledger: Ledger, named: Sequence[str] = (), below: Sequence[str] = ()) -> list[Member]:
    """The sessions of that name, and the children of others."""
    return ledger.removable.relatives("native", named=named, below=below)


class RemovableContract:
    """What may be removed is found by its size and its age."""

    def test_ended_sessions_are_found_by_size_and_age_newest_first(self, ledger: Ledger) -> None:
        old, older = active(ledger, 2, 200), active(ledger, 2, 100)
        active(ledger, 3, 100)
        assert candidates(ledger, 2) == [old.id, older.id]
        assert candidates(ledger, 2, before=200) == [old.id, older.id]
        assert candidates(ledger, 2, before=199) == [older.id]
        assert candidates(ledger, 1) == []

    def test_they_come_in_pages(self, ledger: Ledger) -> None:
        sessions = [active(ledger, 1, number // 2) for number in range(6)][::-1]
        found: list[str] = []
        place = None
        for last in sessions[1::2]:
            found += candidates(ledger, 1, after=place, limit=2)
            place = Place(last.active_at, last.ref)
        assert found == [each.id for each in sessions]
        assert candidates(ledger, 1, after=place, limit=2) == []

    def test_a_source_can_be_asked_for(self, ledger: Ledger) -> None:
        active(ledger, 1, 1, source="chat")
        cron = active(ledger, 1, 2, source="cron")
        assert candidates(ledger, 1, source="cron") == [cron.id]

    def test_neither_open_nor_removed_nor_foreign_sessions_are_found(self, ledger: Ledger) -> None:
        open_one = born(ledger, "talk")
        home = ledger.homes.attach("other", "hermes", "/other", "host", False)
        foreign = Session(
            ref=0, home="other", id="foreign", key=None, source="cli", state=State.ENDED,
            started_at=NOON, active_at=NOON, ended_at=NOON, message_count=1,
        )  # fmt: skip
        observe(ledger, home, foreign)
        trashed(ledger, over(ledger))
        here = over(ledger)
        assert (candidates(ledger, 0), candidates(ledger, 1)) == ([], [here.id])
        assert open_one.message_count == 0
        sieve = Sieve(count=1, before=at(5000))
        assert [each.id for each in ledger.removable.candidates("other", sieve, None, 9)] == [
            "foreign"
        ]
        assert ledger.removable.candidates("unknown", sieve, None, 9) == []

    def test_the_sizes_there_are_can_be_asked_for(self, ledger: Ledger) -> None:
        assert ledger.removable.counts("native", 10) == []
        for count in (7, 0, 3, 3, 12):
            active(ledger, count, 1)
        trashed(ledger, over(ledger, 5))
        say(ledger, born(ledger, "talk"), "open")
        assert ledger.removable.counts("native", 7) == [0, 3, 7]
        assert ledger.removable.counts("native", 6) == [0, 3]
        assert ledger.removable.counts("unknown", 6) == []

    def test_a_candidate_tells_what_it_is_and_what_keeps_it(self, ledger: Ledger) -> None:
        parent = over(ledger)
        plain = over(ledger, 2, source="cron", parent=parent.id, relation=Relation.SUBAGENT)
        sieve = Sieve(count=2, before=at(5000))
        [found] = ledger.removable.candidates("native", sieve, None, 9)
        assert (found.ref, found.id, found.source) == (plain.ref, plain.id, "cron")
        assert (found.parent, found.relation) == (parent.id, Relation.SUBAGENT)
        assert (found.state, found.epoch, found.active_at) == (State.ENDED, 1, NOON)
        assert (found.message_count, found.turn_count) == (2, 0)
        assert found.byte_count == plain.byte_count
        assert found[11:] == (False, False, False, None)

    def test_it_tells_of_pins_and_holders_and_work(self, ledger: Ledger) -> None:
        rule(ledger, LOG)
        enrol(ledger, "keeper")
        done = given_up(ledger)
        pinned, running, pending = (ended(ledger) for _ in range(3))
        ledger.book.mark(pinned.ref, pinned=True)
        assert len(claim(ledger, limit=2)) == 2
        held = born(ledger, "held", worker=enrol(ledger, "holder"))
        found = {
            each.id: (each.pinned, each.held, each.owed, each.given_up_at)
            for each in relatives(
                ledger, [each.id for each in (done, pinned, running, pending, held)]
            )
        }
        assert found == {
            done.id: (False, False, False, at(3600)),
            pinned.id: (True, False, True, None),
            running.id: (False, False, True, None),
            pending.id: (False, False, True, None),
            held.id: (False, True, False, None),
        }

    def test_relatives_are_found_by_name_and_by_parent(self, ledger: Ledger) -> None:
        root = over(ledger)
        child = born(ledger, None, parent=root.id, relation=Relation.BRANCH)
        stranger = over(ledger, parent="gone", relation=Relation.SUBAGENT)
        assert [each.id for each in relatives(ledger, below=[root.id, "x"])] == [child.id]
        assert [each.id for each in relatives(ledger, named=[root.id, "x"])] == [root.id]
        assert [each.id for each in relatives(ledger, below=["gone"])] == [stranger.id]
        assert relatives(ledger) == []
        found = ledger.removable.relatives("unknown", named=[root.id], below=[root.id])
        assert found == []

    def test_a_row_is_read_whole(self, ledger: Ledger) -> None:
        other = over(ledger)
        session = given_up(ledger)
        found = ledger.removable.rows([session.ref])
        assert found.keys() == {session.ref}
        state, last_seq, text, _ = found[session.ref]
        assert (state, last_seq) == (State.FINALIZED, 1)
        row = json.loads(text)
        assert (row["id"], row["state"], row["last_seq"]) == (session.id, "finalized", 1)
        assert (row["message_count"], row["title"], row["active_at"]) == (1, None, MICROS)
        [work] = found[session.ref].finalizations
        assert (work["finalizer"], work["state"], work["through"]) == ("log", "dead", 1)
        assert ledger.removable.rows([other.ref])[other.ref].finalizations == ()

    def test_messages_are_read_as_they_are_stored(self, ledger: Ledger) -> None:
        begun = born(ledger)
        assert say(ledger, begun, "text", {"a": 1}, None, "\ud800")
        other = over(ledger, 3)
        found = ledger.removable.messages([begun.ref])
        assert found.keys() == {begun.ref}
        assert [(each.seq, each.is_text, each.content) for each in found[begun.ref]] == [
            (1, 1, b"text"),
            (2, 0, b'{"a":1}'),
            (3, 0, None),
            (4, 1, b"\xed\xa0\x80"),
        ]
        assert ledger.removable.message_page(begun.ref, 0, 10**6) == found[begun.ref]
        assert [each.seq for each in ledger.removable.message_page(begun.ref, 1, 1)] == [2]
        assert len(ledger.removable.message_page(other.ref, 1, 10**6)) == 2
        assert len(heard(ledger, begun)) == 4


class VaultBookContract:
    """Vault files are found by what is asked for."""

    def test_files_are_listed_in_the_order_they_were_made(self, ledger: Ledger) -> None:
        made = [intended(ledger, f"{number}") for number in range(4)]
        wanted = WantedFiles()
        assert ledger.vault.page(wanted, 0, 3) == made[:3]
        assert ledger.vault.page(wanted, made[2].ref, 3) == made[3:]

    def test_they_are_listed_from_the_newest_to_the_oldest(self, ledger: Ledger) -> None:
        made = [intended(ledger, f"{number}") for number in range(4)]
        archive = intended(ledger, "5", kind=VaultKind.ARCHIVE)
        assert ledger.vault.newest(WantedFiles(), None, 3) == [archive, made[3], made[2]]
        assert ledger.vault.newest(WantedFiles(), made[2].ref, 3) == [made[1], made[0]]
        assert ledger.vault.newest(WantedFiles(kind=VaultKind.ARCHIVE), None, 3) == [archive]
        assert ledger.vault.newest(WantedFiles(home="elsewhere"), None, 3) == []
        assert ledger.vault.newest(WantedFiles(source="nobody"), None, 3) == []

    def test_they_are_listed_by_kind_home_and_source(self, ledger: Ledger) -> None:
        ledger.homes.attach("other", "hermes", "/other", "host", False)
        trash = intended(ledger, "1")
        archive = intended(ledger, "2", kind=VaultKind.ARCHIVE)
        foreign = intended(ledger, "3", home="other")
        cron = intended(ledger, "4", source="cron")

        def found(**wanted: str | VaultKind) -> list[int]:
            page = ledger.vault.page(WantedFiles(**wanted), 0, 9)  # type: ignore[arg-type]
            return [each.ref for each in page]

        assert found(kind=VaultKind.ARCHIVE) == [archive.ref]
        assert found(home="other") == [foreign.ref]
        assert found(source="cron") == [cron.ref]
        assert found(source="chat", home="native", kind=VaultKind.TRASH) == [trash.ref]

    def test_they_are_found_by_receipt(self, ledger: Ledger) -> None:
        first = intended(ledger, "1")
        other = intended(ledger, "2", receipt="another")
        assert ledger.vault.of_receipt("receipt") == [first]
        assert ledger.vault.of_receipt("another") == [other]
