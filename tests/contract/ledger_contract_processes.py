"""What every ledger promises about the background processes of sessions."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sexton.core.record import replace
from sexton.core.session import Session, State
from sexton.homes.home_ports import Sighting
from sexton.liveness.model import Identity
from sexton.processes.model import Doing, Ending, Figures, Process, ProcessKind
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_compression import shorter
from tests.contract.ledger_contract_samples import (
    ALL,
    NOON,
    at,
    born,
    entry,
    journal,
    observe,
    say,
    seen,
)

HERE = Identity(
    host="host", boot_id="boot", pid=40, started=7, inode=2**40, pid_namespace=2**33, uid=1000
)
FIGURES = Figures(seconds=60.0, cpu=1.5, io=2**33, memory=2**34, processes=3, ports=(80, 8765))


def sample(pid: int = 40, **facts: Any) -> Process:
    """A process that might be registered."""
    given: dict[str, Any] = {
        "identity": replace(HERE, pid=pid),
        "session": "",
        "task": None,
        "kind": ProcessKind.JOB,
        "command": "make all",
        "cwd": "/src",
        "started_at": NOON,
    }
    return Process(**(given | facts))


def registered(ledger: Ledger, session: Session, pid: int = 40, **facts: Any) -> Process:
    """A process that is registered to the session."""
    found = ledger.registry.register(sample(pid, **facts), session)
    assert found is not None
    return found


def pids(found: list[Process]) -> list[int]:
    return [each.identity.pid for each in found]


def end(ledger: Ledger, session: Session, now: datetime = NOON) -> None:
    assert ledger.book.end_now(session, "closed", now)


class ProcessesContract:
    """A process is one session's, is known until it is known to be gone, and then for a week."""

    def test_a_process_comes_back_as_it_was_registered(self, ledger: Ledger) -> None:
        session = born(ledger)
        told = sample(
            kind=ProcessKind.SERVER,
            task="tåsk",
            tag="0" * 32,
            command="x" * 4000,
            expires_at=at(60),
            registered_by="somebody",
            started_at=at(-5),
        )
        found = ledger.registry.register(told, session)
        assert found is not None
        assert found == replace(
            told,
            ref=found.ref,
            session=session.id,
            session_ref=session.ref,
            session_state=State.OPEN,
            epoch=session.epoch,
        )
        assert ledger.registry.running() == ledger.registry.of_session(session.ref) == [found]
        assert not found.is_orphan

    def test_only_an_open_session_whose_fence_stands_gets_a_process(self, ledger: Ledger) -> None:
        session, ended = born(ledger), born(ledger, "other")
        end(ledger, ended)
        for wrong in (replace(session, epoch=2), replace(session, ref=99), ended):
            assert ledger.registry.register(sample(), wrong) is None
        assert ledger.registry.running() == []

    def test_the_same_process_registered_again_is_one_and_begins_anew(self, ledger: Ledger) -> None:
        first, second = born(ledger), born(ledger, "other")
        before = registered(ledger, first, tag="a" * 32)
        ledger.registry.judge([(before.ref, Doing.WORKING, FIGURES)], at(1))
        ledger.registry.keep(before.ref, True, at(1))
        other = registered(ledger, first, 41)
        for each in (before, other):
            assert ledger.registry.tell(each.ref, "left", at(1)) == (at(1), True)
        again = registered(ledger, second, task="t", kind=ProcessKind.MCP, started_at=at(3))
        assert again == replace(
            before,
            session=second.id,
            session_ref=second.ref,
            task="t",
            kind=ProcessKind.MCP,
            started_at=at(3),
            kept=True,
        )
        assert ledger.registry.tell(again.ref, "left", at(4)) == (at(4), True)
        assert ledger.registry.tell(other.ref, "left", at(4)) == (at(1), False)
        assert registered(ledger, second, tag="b" * 32).tag == "b" * 32

    def test_another_start_boot_host_or_pid_is_another_process(self, ledger: Ledger) -> None:
        session = born(ledger)
        others: tuple[dict[str, Any], ...] = (
            {"started": 8},
            {"boot_id": "next"},
            {"host": "other"},
            {"pid": 41},
            {},
        )
        for other in others:
            registered(ledger, session, identity=replace(HERE, **other))
        assert len(ledger.registry.running()) == len(others)

    def test_one_that_is_about_to_be_started_is_identified_once(self, ledger: Ledger) -> None:
        session = born(ledger)
        twin = registered(ledger, session)
        other = registered(ledger, session, 41)
        awaited = registered(ledger, session, 0, tag="a" * 32)
        another = registered(ledger, session, 0, tag="b" * 32)
        assert ledger.registry.identify(awaited, replace(HERE, inode=9, uid=5), at(1))
        for other_pid in (40, 50):
            assert not ledger.registry.identify(awaited, replace(HERE, pid=other_pid), at(2))
        found = {each.ref: each for each in ledger.registry.running()}
        assert found.keys() == {other.ref, awaited.ref, another.ref}
        assert found[awaited.ref].identity == replace(HERE, inode=9, uid=5)
        page = {each.ref: each for each in ledger.registry.page(None, ALL)}
        assert page[twin.ref].ended_at == at(1)
        assert page[twin.ref].ended_how is not None
        ledger.registry.end(another.ref, "never came to be", at(3))
        assert not ledger.registry.identify(another, replace(HERE, pid=60), at(4))

    def test_a_pid_used_again_ends_only_its_former_owner(self, ledger: Ledger) -> None:
        session = born(ledger)
        for other in ({"started": 8}, {"boot_id": "next"}, {"host": "other"}, {"pid": 41}):
            registered(ledger, session, identity=replace(HERE, **other))
        gone = registered(ledger, session)
        ledger.registry.end(gone.ref, "gone", at(1))
        awaited = registered(ledger, session, 0)
        assert ledger.registry.identify(awaited, HERE, at(2))
        assert len(ledger.registry.running()) == 5
        page = {each.ref: each for each in ledger.registry.page(None, ALL)}
        assert page[gone.ref].ended_how == "gone"

    def test_processes_are_found_by_session_and_by_running(self, ledger: Ledger) -> None:
        one, two = born(ledger), born(ledger, "other")
        first, second, third = (
            registered(ledger, session, pid) for session, pid in ((one, 1), (two, 2), (one, 3))
        )
        assert pids(ledger.registry.running()) == [1, 2, 3]
        assert pids(ledger.registry.of_session(one.ref)) == [1, 3]
        assert ledger.registry.end(first.ref, "exited", at(1))
        assert pids(ledger.registry.running()) == [2, 3]
        assert pids(ledger.registry.of_session(one.ref)) == [3]
        assert pids(ledger.registry.page(None, 2)) == [3, 2]
        assert pids(ledger.registry.page(second.ref, 2)) == [1]
        assert third.ended_at is None

    def test_what_a_process_does_is_stored_until_it_has_ended(self, ledger: Ledger) -> None:
        session = born(ledger)
        one, two, three = (registered(ledger, session, pid) for pid in (1, 2, 3))
        ledger.registry.end(two.ref, "exited", at(1))
        ledger.registry.judge([], at(1))
        ledger.registry.judge(
            [(two.ref, Doing.IDLE, FIGURES), (one.ref, Doing.WORKING, FIGURES)], at(2)
        )
        found = {each.ref: each for each in ledger.registry.page(None, ALL)}
        assert found[one.ref] == replace(one, doing=Doing.WORKING, judged_at=at(2), figures=FIGURES)
        assert found[two.ref].judged_at is None
        assert found[three.ref] == three

    def test_the_first_end_of_a_process_stands_and_is_journalled(self, ledger: Ledger) -> None:
        session = born(ledger)
        process, other = registered(ledger, session), registered(ledger, session, 41)
        assert ledger.registry.end(process.ref, Ending.TERM, at(1), entry(session))
        assert not ledger.registry.end(process.ref, Ending.KILL, at(2), entry(session))
        for kept in (True, False):
            assert not ledger.registry.keep(process.ref, kept, at(2), entry(session))
        assert ledger.registry.tell(process.ref, "left", at(2), entry(session)) is None
        [found] = [each for each in ledger.registry.page(None, ALL) if each.ref == process.ref]
        assert found == replace(process, ended_at=at(1), ended_how=Ending.TERM)
        assert [line.at for line in journal(ledger, session)] == [at(1)]
        assert ledger.registry.running() == [other]

    def test_a_person_keeps_a_process_and_lets_it_go_again(self, ledger: Ledger) -> None:
        session = born(ledger)
        process, other = registered(ledger, session), registered(ledger, session, 41)
        assert ledger.registry.keep(process.ref, True, at(1), entry(session))
        assert ledger.registry.of_session(session.ref) == [replace(process, kept=True), other]
        assert ledger.registry.keep(process.ref, False, at(2))
        assert ledger.registry.of_session(session.ref) == [process, other]
        assert [line.at for line in journal(ledger, session)] == [at(1)]

    def test_what_a_person_keeps_an_agent_does_not_let_go(self, ledger: Ledger) -> None:
        session, registry = born(ledger), ledger.registry
        process = registered(ledger, session)
        by_agent = replace(process, kept=True, kept_by_agent=True)
        by_person = replace(process, kept=True)
        assert registry.keep(process.ref, True, at(1), by_agent=True)
        assert registry.running() == [by_agent]
        assert registry.keep(process.ref, False, at(2), by_agent=True)
        assert registry.running() == [process]
        for before in (True, False):  # whether the agent kept it before or not
            registry.keep(process.ref, before, at(3), by_agent=True)
            assert registry.keep(process.ref, True, at(4))
            assert registry.running() == [by_person]
            assert registry.keep(process.ref, True, at(5), by_agent=True)
            assert not registry.keep(process.ref, False, at(6), entry(session), by_agent=True)
            assert registry.running() == [by_person]
            assert registry.keep(process.ref, False, at(7))
            assert registry.running() == [process]
        assert journal(ledger, session) == []

    def test_a_process_of_an_ended_session_is_an_orphan(self, ledger: Ledger) -> None:
        session, other = born(ledger), born(ledger, "other")
        registered(ledger, session)
        registered(ledger, other, 41)
        ledger.book.end(seen(session), entry().reason, entry(session), at(1))
        orphan, living = ledger.registry.running()
        assert (orphan.is_orphan, orphan.session_state, orphan.end_reason) == (
            True,
            State.ENDED,
            "idle",
        )
        assert not living.is_orphan

    def test_a_process_outlives_the_row_of_its_session(self, ledger: Ledger) -> None:
        home = ledger.homes.attach("far", "hermes", "/far", "host", True)
        observe(ledger, home, replace(born(ledger), ref=0, home="far", id="f1"))
        [session] = ledger.index.find("far", "f1")
        registered(ledger, session)
        ledger.homes.store(home, Sighting(gone=("f1",)), None, NOON)
        [found] = ledger.registry.running()
        assert (found.home, found.session, found.session_ref) == ("far", "f1", None)
        assert (found.is_orphan, found.session_state) == (True, None)

    def test_processes_go_on_with_a_compressed_conversation(self, ledger: Ledger) -> None:
        old, other = born(ledger), born(ledger, "other")
        say(ledger, old, *"abcdef")
        process, left = registered(ledger, old), registered(ledger, other, 41)
        child = shorter(ledger, old, head=1, through=4)
        assert ledger.registry.of_session(old.ref) == []
        assert ledger.registry.of_session(child.ref) == [
            replace(process, session=child.id, session_ref=child.ref)
        ]
        assert ledger.registry.of_session(other.ref) == [left]

    def test_what_ended_a_week_ago_or_was_not_seen_for_a_month_is_forgotten(
        self, ledger: Ledger
    ) -> None:
        session, day = born(ledger), timedelta(days=1)
        for pid, ended in ((1, NOON), (2, NOON + day)):
            process = registered(ledger, session, pid, started_at=NOON - 60 * day)
            ledger.registry.end(process.ref, "exited", ended)
        seen_since = registered(ledger, session, 3)
        ledger.registry.judge([(seen_since.ref, Doing.IDLE, FIGURES)], NOON + 10 * day)
        registered(ledger, session, 4)
        registered(ledger, session, 5, started_at=NOON + 2 * day)
        assert ledger.registry.forget(NOON + 7 * day) == 0
        assert ledger.registry.forget(NOON + 7 * day + day / 2) == 1
        assert pids(ledger.registry.page(None, ALL)) == [5, 4, 3, 2]
        assert ledger.registry.forget(NOON + 31 * day) == 2
        assert pids(ledger.registry.page(None, ALL)) == [5, 3]
