"""What every ledger promises about finding what was kept long enough."""

from __future__ import annotations

from random import Random
from typing import Any

from sexton.core.record import replace
from sexton.core.session import Session, State
from sexton.retention.model import Remains
from sexton.sessions.model import Place
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_compression import shorter
from tests.contract.ledger_contract_finalizing_samples import LOG, claim, ended, rule
from tests.contract.ledger_contract_removal_samples import over, trashed
from tests.contract.ledger_contract_samples import (
    NOON,
    at,
    born,
    enrol,
    entry,
    journal,
    observe,
    reread,
    say,
)


def used(ledger: Ledger, second: float, key: str | None = None, **facts: Any) -> Session:
    """A session that has ended and was last used so long after noon."""
    begun = born(ledger, key, now=at(second), **facts)
    assert ledger.book.end_now(begun, "closed", at(9000))
    return reread(ledger, begun)


def ids(remains: list[Remains]) -> list[str]:
    return [each.session.id for each in remains]


def old(ledger: Ledger, source: str = "chat", **how: Any) -> list[str]:
    """The sessions of a source that are over, the longest unused first."""
    return ids(ledger.retained.old("native", source, how.pop("after", None), 100, **how))


def foreign(ledger: Ledger, id: str, **facts: Any) -> Session:
    """A session that was seen in another home."""
    home = ledger.homes.attach("other", "hermes", "/other", "host", False)
    given: dict[str, Any] = {"source": "cli", "key": None, "active_at": NOON}
    session = Session(
        ref=0, home="other", id=id, state=State.ENDED, started_at=NOON, ended_at=NOON,
        **(given | facts),
    )  # fmt: skip
    observe(ledger, home, session)
    return session


class RetainedContract:
    """What is over is found by its source and its age."""

    def test_the_longest_unused_of_a_source_comes_first(self, ledger: Ledger) -> None:
        newer, older = used(ledger, 20), used(ledger, 10)
        used(ledger, 5, source="cron")
        assert old(ledger) == [older.id, newer.id]

    def test_it_comes_in_pages(self, ledger: Ledger) -> None:
        expected = [used(ledger, number // 2) for number in range(5)]
        found: list[str] = []
        place: Place | None = None
        while page := ledger.retained.old("native", "chat", place, 2):
            found += ids(page)
            assert len(found) <= len(expected)
            place = Place(page[-1].session.active_at, page[-1].session.ref)
        assert found == [each.id for each in expected]

    def test_neither_open_nor_removed_nor_foreign_sessions_are_old(self, ledger: Ledger) -> None:
        born(ledger, "open")
        trashed(ledger, over(ledger))
        foreign(ledger, "elsewhere", source="chat")
        here = over(ledger)
        assert old(ledger) == [here.id]
        assert ids(ledger.retained.old("other", "chat", None, 9)) == ["elsewhere"]
        assert ledger.retained.old("unknown", "chat", None, 9) == []

    def test_the_sources_there_are_can_be_asked_for(self, ledger: Ledger) -> None:
        assert ledger.retained.sources("native") == []
        for source in ("cron", "chat", "cron"):
            used(ledger, 1, source=source)
        born(ledger, "open", source="batch")
        trashed(ledger, over(ledger, source="gone"))
        foreign(ledger, "elsewhere", source="cli")
        assert ledger.retained.sources("native") == ["chat", "cron"]
        assert ledger.retained.sources("other") == ["cli"]

    def test_a_rank_is_the_place_among_the_newest_of_a_key(self, ledger: Ledger) -> None:
        for second in (30, 10, 20):
            used(ledger, second, key="talk")
        used(ledger, 40, key="other")
        found = ledger.retained.old("native", "chat", None, 9, among=9)
        assert [each.rank for each in found] == [3, 2, 1, 1]

    def test_a_rank_is_the_place_among_the_newest_of_a_job(self, ledger: Ledger) -> None:
        # A job's runs have keys of their own.
        for second in (10, 20, 30):
            used(ledger, second, key=f"run {second}", job="backup", source="cron")
        used(ledger, 40, job="other", source="cron")
        found = ledger.retained.old("native", "cron", None, 9, among=9)
        assert [each.rank for each in found] == [3, 2, 1, 1]

    def test_a_conversation_that_was_compressed_has_one_place_among_them(
        self, ledger: Ledger
    ) -> None:
        for facts in ({"key": "talk"}, {"key": "run 1", "job": "backup"}):
            used(ledger, 10, **facts)
            begun = born(ledger, now=at(20), **facts)
            for _ in range(2):
                say(ledger, begun, *"12345", now=at(30))
                begun = shorter(ledger, begun)
            assert ledger.book.end_now(begun, "closed", at(9000))
        found = ledger.retained.old("native", "chat", None, 9, among=9)
        assert [each.rank for each in found if each.session.end_reason == "closed"] == [2, 2, 1, 1]

    def test_of_the_same_moment_the_later_one_is_the_newer(self, ledger: Ledger) -> None:
        for _ in range(2):
            used(ledger, 10, key="talk")
            used(ledger, 10, job="backup")
        found = ledger.retained.old("native", "chat", None, 9, among=9)
        assert [each.rank for each in found] == [2, 2, 1, 1]

    def test_a_session_without_key_and_job_has_no_rank(self, ledger: Ledger) -> None:
        used(ledger, 10)
        assert [each.rank for each in ledger.retained.old("native", "chat", None, 9, among=9)] == [
            None
        ]

    def test_only_what_is_over_and_here_counts_for_a_rank(self, ledger: Ledger) -> None:
        used(ledger, 10, key="talk")
        used(ledger, 10, job="backup")
        trashed(ledger, used(ledger, 70, key="talk"), used(ledger, 70, job="backup"))
        foreign(ledger, "elsewhere", key="talk", active_at=at(50))
        foreign(ledger, "at work", job="backup", active_at=at(50))
        say(ledger, born(ledger, "talk", now=at(60)), "open", now=at(60))
        born(ledger, None, job="backup", now=at(60))
        found = ledger.retained.old("native", "chat", None, 9, among=9)
        assert [each.rank for each in found] == [1, 1]

    def test_a_rank_is_counted_no_further_than_asked(self, ledger: Ledger) -> None:
        for second in range(5):
            used(ledger, second, key="talk")
            used(ledger, second, job="backup")
        found = ledger.retained.old("native", "chat", None, 10, among=2)
        assert [each.rank for each in found] == [3, 3, 3, 3, 3, 3, 2, 2, 1, 1]

    def test_what_is_owed_is_told(self, ledger: Ledger) -> None:
        enrol(ledger, "keeper")
        rule(ledger, LOG)
        begun = ended(ledger)
        [found] = ledger.retained.old("native", "chat", None, 9)
        assert found.owes
        [work] = claim(ledger)
        [found] = ledger.retained.old("native", "chat", None, 9)
        assert found.owes
        assert ledger.finalizing.finish(work, "done", at(50))
        [found] = ledger.retained.old("native", "chat", None, 9)
        assert not found.owes
        assert found.session == reread(ledger, begun)
        ended(ledger, source="later")  # the work of one is not the other's
        [found] = ledger.retained.old("native", "chat", None, 9)
        assert not found.owes

    def test_sessions_are_found_by_name_whatever_became_of_them(self, ledger: Ledger) -> None:
        open_one, gone, here = born(ledger, "open"), over(ledger), over(ledger)
        trashed(ledger, gone)
        foreign(ledger, "elsewhere")
        names = [open_one.id, gone.id, here.id, "elsewhere", "unknown"]
        assert ids(ledger.retained.named("native", names)) == [open_one.id, gone.id, here.id]
        assert ids(ledger.retained.named("native", [here.id])) == [here.id]
        assert ids(ledger.retained.named("other", names)) == ["elsewhere"]
        assert ledger.retained.named("native", []) == []

    def test_what_was_brought_back_lately_is_known(self, ledger: Ledger) -> None:
        for id, second, action, home in (
            ("late", 20, "restore", "native"),
            ("early", 10, "restore", "native"),
            ("removed", 20, "trash", "native"),
            ("far", 20, "restore", "elsewhere"),
            ("unasked", 20, "restore", "native"),
        ):
            written = replace(entry(action=action), session=id, home=home)
            ledger.journal.write([written], at(second))
        ids = ["late", "early", "removed", "far"]
        assert ledger.retained.brought_back("native", ids, at(10)) == {"late"}

    def test_what_is_over_and_here_is_counted(self, ledger: Ledger) -> None:
        assert ledger.retained.count("native") == 0
        over(ledger)
        over(ledger, source="cron")
        trashed(ledger, over(ledger))
        born(ledger, "open")
        foreign(ledger, "elsewhere")
        assert ledger.retained.count("native") == 2
        assert ledger.retained.count("other") == 1

    def test_every_table_tells_its_size_and_nothing_else_does(self, ledger: Ledger) -> None:
        before = ledger.retained.tables()
        assert {"sessions", "messages", "journal", "vault", "outbox"} <= before.keys()
        assert not [name for name in before if "sessions_" in name]
        say(ledger, born(ledger, "big"), Random(1).randbytes(500_000).hex())  # not to be compressed
        after = ledger.retained.tables()
        assert after["messages"] > before["messages"]
        assert next(iter(after)) == "messages"

    def test_old_entries_of_the_journal_are_dropped_the_oldest_first(self, ledger: Ledger) -> None:
        for second in (30, 20, 10):
            ledger.journal.write([entry(action=f"at {second}")], at(second))
        assert ledger.retained.forget(at(10), 9) == 0
        assert ledger.retained.forget(at(30), 1) == 1
        assert [each.action for each in journal(ledger)] == ["at 20", "at 30"]
        assert ledger.retained.forget(at(30), 9) == 1
        assert [each.action for each in journal(ledger)] == ["at 30"]

    def test_old_policies_are_dropped_but_not_those_in_force(self, ledger: Ledger) -> None:
        for second in (10, 20, 30):
            ledger.policies.publish(f"digest {second}", f"text {second}", "test", at(second))
        ledger.retained.forget(at(20), 9)
        assert ledger.retained.forget(at(20), 9) == 0
        assert ledger.retained.forget(at(99), 0) == 1
        stored = ledger.policies.in_force()
        assert stored is not None
        assert (stored.digest, stored.text) == ("digest 30", "text 30")
        assert ledger.retained.forget(at(99), 0) == 0
