"""What every ledger promises about workers, journal, policies and homes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from sexton.core.plan import Reason
from sexton.core.session import Limit, Session, State
from sexton.errors import HomeRewound
from sexton.homes.home_ports import Sighting
from sexton.liveness.model import Identity, Worker
from sexton.liveness.registered_workers import LastSweep
from sexton.rules.store import StoredPolicies
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_samples import (
    ALL,
    NOON,
    at,
    born,
    enrol,
    entry,
    journal,
    observe,
    reread,
    seen,
)


class UpkeepContract:
    """Who uses the ledger, what was done, which policies are in force."""

    def test_the_journal_tells_which_sessions_an_entry_is_about(self, ledger: Ledger) -> None:
        ids = ("a", 'b "[c]', "\u00e4, d")
        ledger.journal.write([entry(receipt="r", sessions=ids), entry(receipt="r")], NOON)
        assert [each.sessions for each in ledger.journal.page(None, "r", None, 9)] == [(), ids]
        assert [each.sessions for each in ledger.board.journal_since(0, 9)][-2:] == [ids, ()]

    def test_a_worker_is_known_exactly_until_it_leaves(self, ledger: Ledger) -> None:
        identity = Identity(
            host="höst", boot_id="b", pid=2**22, started=2**60, inode=2**62, pid_namespace=2**32,
            uid=2**32 - 2,
        )  # fmt: skip
        worker = Worker(
            id="anna", identity=identity, kind="keeper", version="1.2", beat=0, registered_at=NOON
        )
        ledger.workers.register(worker)
        enrol(ledger, "berta", at(-1))
        assert [each.id for each in ledger.workers.all()] == ["berta", "anna"]
        assert ledger.workers.all()[1] == worker
        ledger.book.leave("anna", (), at(1))
        assert [each.id for each in ledger.workers.all()] == ["berta"]

    def test_the_last_sweep_of_any_keeper_is_known(self, ledger: Ledger) -> None:
        assert ledger.workers.last_sweep() is None
        for id in ("anna", "berta"):
            enrol(ledger, id)
        assert ledger.workers.last_sweep() is None
        hour, minute = timedelta(hours=1), timedelta(minutes=1)
        ledger.workers.swept("anna", at(5), hour)
        ledger.workers.swept("berta", at(3), minute)
        assert ledger.workers.last_sweep() == LastSweep(at(5), hour)
        assert [each.swept_at for each in ledger.workers.all()] == [at(5), at(3)]
        ledger.book.leave("anna", (), at(6))
        assert ledger.workers.last_sweep() == LastSweep(at(5), hour)

    def test_workers_that_left_long_ago_are_forgotten_and_no_others(self, ledger: Ledger) -> None:
        for id in ("left", "swept last", "came back", "living"):
            enrol(ledger, id)
            ledger.workers.swept(id, at(2 if id == "swept last" else 1), timedelta(minutes=1))
        for id in ("left", "swept last", "came back"):
            ledger.book.leave(id, (), NOON)
        ledger.book.leave("left", (), NOON + timedelta(days=399))
        held = born(ledger, worker="came back")
        enrol(ledger, "new", NOON + timedelta(days=400))
        assert [each.id for each in ledger.workers.all()] == ["living", "new"]
        assert ledger.workers.last_sweep() == LastSweep(at(2), timedelta(minutes=1))
        assert reread(ledger, held) == held
        enrol(ledger, "left")
        assert "left" in [each.id for each in ledger.workers.all()]

    def test_the_journal_keeps_every_part_of_an_entry(self, ledger: Ledger) -> None:
        reason = Reason("idle", "since “yesterday” ☕")
        written = entry(home="lab", receipt="r", reason=reason, result="skipped")
        ledger.journal.write([written], at(1))
        [line] = journal(ledger)
        assert (line.at, line.actor, line.receipt, line.home) == (at(1), "test", "r", "lab")
        assert (line.session, line.action, line.result) == (None, "end", "skipped")
        assert line.reason == reason

    def test_the_journal_is_read_newest_first_in_pages(self, ledger: Ledger) -> None:
        one, two = born(ledger, "a", id="1"), born(ledger, "b", id="2")
        for number in range(12):
            written = (one, two, replace(one, home="lab"))[number % 3]
            ledger.journal.write([entry(written, receipt=f"r{number % 2}")], at(number))
        ledger.journal.write([], at(99))
        for about, receipt, expected in (
            (None, None, range(12)),
            (one, None, range(0, 12, 3)),
            (two, None, range(1, 12, 3)),
            (None, "r1", range(1, 12, 2)),
        ):
            for size in (1, 5, ALL):
                lines = _walk(ledger, about, receipt, size)
                assert lines == [at(number) for number in reversed(expected)]

    def test_no_policies_are_in_force_until_some_are_published(self, ledger: Ledger) -> None:
        assert ledger.policies.in_force() is None
        first = StoredPolicies(1, "d1", "text ü")
        assert ledger.policies.publish("d1", "text ü", "anna", NOON) == first
        assert ledger.policies.in_force() == first

    def test_publishing_what_is_in_force_changes_nothing(self, ledger: Ledger) -> None:
        first = ledger.policies.publish("d1", "one", "anna", NOON)
        assert ledger.policies.publish("d1", "one", "berta", at(1)) == first
        assert ledger.policies.publish("d2", "two", "anna", at(2)).serial == 2
        assert ledger.policies.publish("d1", "one", "anna", at(3)).serial == 3
        assert ledger.policies.in_force() == StoredPolicies(3, "d1", "one")
        assert [line.at for line in journal(ledger)] == [at(3), at(2), NOON]


class HomesContract:
    """Which homes are known and what was seen in them."""

    def test_the_native_home_is_there_from_the_start(self, ledger: Ledger) -> None:
        [native] = ledger.homes.all()
        assert (native.name, native.kind, native.act, native.path) == (
            "native", "native", True, None,
        )  # fmt: skip

    def test_the_same_path_on_the_same_host_stays_the_same_home(self, ledger: Ledger) -> None:
        first = ledger.homes.attach("lab", "hermes", "/lab", "host", False)
        again = ledger.homes.attach("other name", "hermes", "/lab", "host", True)
        assert again == replace(first, act=True)
        assert ledger.homes.all()[1:] == [again]

    def test_homes_of_the_same_name_stay_apart(self, ledger: Ledger) -> None:
        places = [("/a", "host"), ("/b", "host"), ("/a", "other host")]
        homes = [ledger.homes.attach("lab", "hermes", *place, False) for place in places]
        assert [home.name for home in homes] == ["lab", "lab-2", "lab-3"]
        again = [ledger.homes.attach("lab", "hermes", *place, False) for place in places]
        assert again == homes == ledger.homes.all()[1:]
        native = ledger.homes.attach("native", "hermes", "/n", "host", False)
        assert native.name == "native-2"

    def test_facts_replace_facts_and_the_row_stays(self, ledger: Ledger) -> None:
        lab = ledger.homes.attach("lab", "hermes", "/lab", "host", False)
        first = _observed("one", key="k", title="Old", message_count=2, due_at=at(1))
        observe(ledger, lab, first)
        stored = reread(ledger, first)
        assert stored == replace(first, ref=stored.ref)
        assert ledger.index.warn(seen(stored), Limit.BYTES, entry(stored), NOON)
        ended: dict[str, Any] = {"state": State.ENDED, "ended_at": at(9), "end_reason": "done"}
        second = _observed("one", source="cli", title="New", message_count=5, **ended)
        observe(ledger, lab, second)
        assert reread(ledger, first) == replace(second, ref=stored.ref, warned=Limit.BYTES)

    def test_what_vanished_is_forgotten_there_and_nowhere_else(self, ledger: Ledger) -> None:
        mine = born(ledger, id="one")
        lab = ledger.homes.attach("lab", "hermes", "/lab", "host", False)
        den = ledger.homes.attach("den", "hermes", "/den", "host", False)
        for home in (lab, den):
            sessions = tuple(_observed(id, home.name) for id in ("one", "two"))
            observe(ledger, home, *sessions)
        ledger.homes.store(lab, Sighting(gone=("one", "unheard of")), None, NOON)
        assert [each.home for each in ledger.index.find(None, "one")] == ["native", "den"]
        native = ledger.homes.all()[0]
        ledger.homes.store(native, Sighting(gone=("one",)), None, NOON)
        assert reread(ledger, mine) == mine
        assert (ledger.homes.ids(lab, open_only=False), ledger.homes.all()[1].mark) == (
            ["two"],
            None,
        )

    def test_facts_are_not_stored_under_a_number_that_is_another_homes(
        self, ledger: Ledger
    ) -> None:
        """A ledger that was set back gives the next home the number that one had before."""
        lab = ledger.homes.attach("lab", "hermes", "/lab", "host", False)
        observe(ledger, lab, _observed("one"))
        before = ledger.index.find("lab", "one"), ledger.homes.all()
        others = (
            replace(lab, name="den"),
            replace(lab, path="/den"),
            replace(lab, host="other"),
            replace(lab, ref=lab.ref + 1),
            replace(ledger.homes.all()[0], ref=lab.ref),
        )
        for other in others:
            sighting = Sighting(seen=(_observed("two"),), gone=("one",), mark={})
            with pytest.raises(HomeRewound):
                ledger.homes.store(other, sighting, None, NOON)
        assert (ledger.index.find("lab", "one"), ledger.homes.all()) == before
        assert ledger.homes.ids(lab, open_only=False) == ["one"]

    def test_a_key_of_another_home_is_another_key(self, ledger: Ledger) -> None:
        lab = ledger.homes.attach("lab", "hermes", "/lab", "host", False)
        observe(ledger, lab, _observed("one", key="talk"), _observed("two", key="talk"))
        assert ledger.book.current("talk") is None
        mine = born(ledger, "talk")
        assert ledger.book.current("talk") == mine

    def test_the_ids_of_a_home_are_known_and_which_are_open(self, ledger: Ledger) -> None:
        lab = ledger.homes.attach("lab", "hermes", "/lab", "host", False)
        den = ledger.homes.attach("den", "hermes", "/den", "host", False)
        over = _observed("over", state=State.ENDED, ended_at=at(1), end_reason="done")
        observe(ledger, lab, _observed("open"), over)
        observe(ledger, den, _observed("other", "den"))
        assert sorted(ledger.homes.ids(lab, open_only=False)) == ["open", "over"]
        assert ledger.homes.ids(lab, open_only=True) == ["open"]
        assert ledger.homes.ids(ledger.homes.all()[0], open_only=False) == []

    def test_a_mark_is_stored_with_the_facts_and_stays_until_the_next(self, ledger: Ledger) -> None:
        lab = ledger.homes.attach("lab", "hermes", "/lab", "host", False)
        den = ledger.homes.attach("den", "hermes", "/den", "host", False)
        mark = {"wal": [1, 2**60], "ü": None}
        ledger.homes.store(lab, Sighting(mark=mark), "rules", at(1))
        observe(ledger, lab, _observed("one"))
        found = ledger.homes.all()[1]
        assert found == replace(lab, mark=mark, rules="rules", observed_at=at(1))
        assert ledger.homes.attach("lab", "hermes", "/lab", "host", False) == found
        ledger.homes.store(lab, Sighting(mark={}), None, at(3))
        assert ledger.homes.all()[1:] == [replace(lab, mark={}, observed_at=at(3)), den]


def _walk(ledger: Ledger, session: Session | None, receipt: str | None, size: int) -> list[object]:
    """The times of all entries, read in pages."""
    times: list[object] = []
    before: int | None = None
    while page := ledger.journal.page(session, receipt, before, size):
        assert before is None or page[-1].ref < before
        times += [line.at for line in page]
        before = page[-1].ref
    return times


def _observed(id: str, home: str = "lab", **facts: Any) -> Session:
    given: dict[str, Any] = {
        "key": None,
        "source": "chat",
        "started_at": NOON,
        "active_at": at(1),
    } | facts
    return Session(ref=0, home=home, id=id, **given)
