"""What every ledger promises about reviving what was taken for dead, and about what it counted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sexton.core.plan import ReapSession, Reason
from sexton.core.schedule import Schedule
from sexton.core.session import Session, State
from sexton.liveness.model import Lost, Sample, ShadowCount, Worker
from sexton.sessions.model import Appended
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_samples import (
    NOON,
    at,
    born,
    enrol,
    entry,
    everything,
    heard,
    holders,
    journal,
    observe,
    reread,
    say,
    seen,
)

GONE = Reason("reaped:process_gone", "no process has its pid")


def worker(ledger: Ledger, id: str) -> Worker:
    """The worker as the reaper sees it."""
    [found] = [each for each in ledger.reaping.suspects() if each.id == id]
    return found


def reap_of(session: Session, *dead: tuple[str, int], **misremembered: Any) -> ReapSession:
    """A decision to reap the session because of these, or of its holders as they are."""
    beats = dead or tuple((each.worker.id, each.worker.beat) for each in session.holders)
    return ReapSession(seen=seen(session, **misremembered), reason=GONE, dead=beats)


def reap(ledger: Ledger, *actions: ReapSession) -> list[bool]:
    """Carry the decisions out, an hour later."""
    noted = entry(action="reap", reason=GONE)
    return ledger.reaping.reap(
        [(each, replace(noted, home=each.seen.home, session=each.seen.id)) for each in actions],
        at(3600),
    )


def revive(ledger: Ledger, session: Session, worker: str) -> Session | None:
    """Open the session again for the worker."""
    return _again(ledger, Lost(ref=session.ref, worker=worker, **_again_at(session)))


def undo(ledger: Ledger, session: Session, ending: int) -> Session | None:
    """Open the session again at a person's word about an entry of the journal."""
    return _again(ledger, Lost(ref=session.ref, undoes=ending, **_again_at(session)))


def _again_at(session: Session) -> dict[str, Any]:
    line = entry(session, action="revive", reason=Reason("revived", "it was taken for dead"))
    return {"schedule": Schedule(3, at(9000)), "entry": line}


def _again(ledger: Ledger, lost: Lost) -> Session | None:
    return next(iter(ledger.reaping.revive([lost], at(7200))), None)


def end(ledger: Ledger, session: Session, action: str = "end") -> int:
    """End the session for good; the journal's entry of it."""
    current = reread(ledger, session)
    assert ledger.book.end_now(current, "closed", at(1), entry(current, action=action))
    return journal(ledger, current)[0].ref


class RevivingContract:
    """What was taken for dead goes on where it stopped."""

    def test_a_revived_session_has_all_it_had_and_a_higher_epoch(self, ledger: Ledger) -> None:
        begun = born(ledger, worker=enrol(ledger, "anna"))
        other = born(ledger, "other", worker="anna")
        say(ledger, begun, "one", "two")
        for each in (begun, other):
            assert reap(ledger, reap_of(reread(ledger, each))) == [True]
        revived = revive(ledger, begun, enrol(ledger, "berta"))
        assert revived == reread(ledger, begun)
        assert revived is not None
        assert (revived.epoch, holders(revived), revived.due_at) == (2, ["berta"], at(9000))
        assert revived.active_at == at(7200), "or it would be idle again at once"
        assert (revived.is_open, revived.ended_at, revived.end_reason) == (True, None, None)
        assert [message.content for message in heard(ledger, begun)] == ["one", "two"]
        assert say(ledger, begun, "from the grave") is None
        assert say(ledger, revived, "three") == Appended(3)
        assert journal(ledger, begun)[0].action == "revive"
        assert not reread(ledger, other).is_open

    def test_only_what_was_reaped_is_revived(self, ledger: Ledger) -> None:
        opened, closed = born(ledger, "open"), born(ledger, "closed")
        ledger.book.end_now(closed, "closed", at(1))
        before = everything(ledger)
        assert [revive(ledger, each, enrol(ledger, each.id)) for each in (opened, closed)] == [
            None,
            None,
        ]
        assert (everything(ledger), journal(ledger)) == (before, [])

    def test_a_session_whose_conversation_goes_on_in_another_stays_ended(
        self, ledger: Ledger
    ) -> None:
        begun = born(ledger, worker=enrol(ledger, "anna"))
        assert reap(ledger, reap_of(begun)) == [True]
        newer = born(ledger)
        assert revive(ledger, begun, enrol(ledger, "berta")) is None
        assert not reread(ledger, begun).is_open
        ledger.book.end_now(newer, "closed", at(1))
        assert revive(ledger, begun, "berta"), "it is the last of its key again"

    def test_a_session_without_a_key_is_revived_beside_others(self, ledger: Ledger) -> None:
        begun = born(ledger, None, worker=enrol(ledger, "anna"))
        born(ledger, None), born(ledger, "talk")
        assert reap(ledger, reap_of(begun)) == [True]
        assert revive(ledger, begun, enrol(ledger, "berta"))

    def test_a_person_undoes_any_end_and_nobody_holds_it_then(self, ledger: Ledger) -> None:
        begun = born(ledger, worker=enrol(ledger, "anna"))
        say(ledger, begun, "one")
        ending = end(ledger, begun)
        ledger.book.mark(begun.ref, pinned=True, noted=(entry(begun, action="pin"), at(2)))
        opened = undo(ledger, begun, ending)
        assert opened == reread(ledger, begun)
        assert opened is not None
        assert (opened.is_open, opened.end_reason, opened.epoch) == (True, None, 2)
        assert (opened.holders, opened.active_at, opened.due_at) == ((), at(7200), at(9000))
        assert say(ledger, begun, "from before") is None
        assert journal(ledger, begun)[0].action == "revive"

    def test_an_end_is_undone_once_and_what_ended_anew_stays_ended(self, ledger: Ledger) -> None:
        begun = born(ledger)
        first = end(ledger, begun)
        assert undo(ledger, begun, first)
        assert undo(ledger, begun, first) is None
        second = end(ledger, begun)
        assert undo(ledger, begun, first) is None
        assert not reread(ledger, begun).is_open
        assert undo(ledger, begun, second)

    def test_an_undo_never_opens_a_session_beside_a_newer_one_of_its_key(
        self, ledger: Ledger
    ) -> None:
        begun = born(ledger)
        ending = end(ledger, begun)
        newer = born(ledger)
        assert undo(ledger, begun, ending) is None
        end(ledger, newer)
        assert undo(ledger, begun, ending)

    def test_what_was_undone_of_others_keeps_no_session_from_being_opened(
        self, ledger: Ledger
    ) -> None:
        begun, other = born(ledger, "one"), born(ledger, "other")
        ending = end(ledger, begun)
        assert undo(ledger, other, end(ledger, other))
        namesake = replace(entry(begun, action="revive"), home="elsewhere")
        ledger.journal.write([namesake], at(3))
        assert undo(ledger, begun, ending)

    def test_many_are_opened_together_and_those_that_can_not_be_are_left(
        self, ledger: Ledger
    ) -> None:
        begun = [born(ledger, f"{number}") for number in range(3)]
        ends = [end(ledger, each) for each in begun]
        born(ledger, "1")
        lost = [
            Lost(ref=each.ref, undoes=ending, **_again_at(each))
            for each, ending in zip(begun, ends, strict=True)
        ]
        opened = ledger.reaping.revive(lost, at(7200))
        assert [each.id for each in opened] == [begun[0].id, begun[2].id]


class ShadowsContract:
    """What was counted, and what was only recorded."""

    def test_samples_are_kept_in_order_and_the_very_old_are_forgotten(self, ledger: Ledger) -> None:
        counts = {"open": 9, "live": 4, "waiting": 2, "leaked": 3, "unproven": 0}
        days = [Sample(home=home, at=at(day * 86400), **counts)
                for day in (1, 0, 2) for home in ("native", "hermes")]  # fmt: skip
        ledger.samples.store(days, at(2 * 86400))
        ledger.samples.store([replace(days[0], open=1)], at(2 * 86400))
        kept = sorted(days, key=lambda each: (each.at, each.home))
        assert ledger.samples.since(NOON) == kept
        assert ledger.samples.since(at(1)) == kept[2:]
        ledger.samples.store([], at(401 * 86400 - 1))
        assert ledger.samples.since(NOON) == kept[2:]

    def test_a_recorded_reap_is_counted_once_and_contradicted_by_activity_after_it(
        self, ledger: Ledger
    ) -> None:
        home = ledger.homes.attach("there", "hermes", "/there", "host", False)
        told = [replace(born(ledger, id), home="there", id=id) for id in ("a", "b", "c")]
        observe(ledger, home, *told)
        first = [ReapSession(seen=seen(each), reason=GONE) for each in told]
        assert ledger.samples.record(*first, *first, now=at(1)) == [True] * 3 + [False] * 3
        observe(ledger, home, *told)
        ledger.samples.store([], at(2))
        assert ledger.samples.shadows() == [ShadowCount(home="there", recorded=3, contradicted=0)]
        ended: dict[str, Any] = {"state": State.ENDED, "ended_at": at(9), "active_at": at(9)}
        observe(ledger, home, replace(told[0], active_at=at(9)), replace(told[1], **ended))
        assert ledger.samples.shadows() == [ShadowCount(home="there", recorded=3, contradicted=1)]
        again = ReapSession(seen=seen(told[0], active_at=at(9)), reason=GONE)
        assert ledger.samples.record(again, now=at(10)) == [True], (
            "it may be taken for dead a second time"
        )
        assert ledger.samples.shadows() == [ShadowCount(home="there", recorded=4, contradicted=1)]
        ledger.samples.store([], at(401 * 86400))
        assert ledger.samples.shadows() == []

    def test_activity_in_another_home_contradicts_nothing(self, ledger: Ledger) -> None:
        homes = [ledger.homes.attach(name, "hermes", f"/{name}", "h", False) for name in "xy"]
        told = replace(born(ledger), home="x", id="same")
        observe(ledger, homes[0], told)
        other = replace(told, home="y", id="other")
        for each in (told, other):
            reap = ReapSession(seen=seen(each), reason=GONE)
            assert ledger.samples.record(reap, now=at(1)) == [True]
        observe(ledger, homes[1], replace(told, home="y", active_at=at(9)))
        assert ledger.samples.shadows() == [
            ShadowCount(home="x", recorded=1, contradicted=0),
            ShadowCount(home="y", recorded=1, contradicted=0),
        ]
        assert ledger.samples.recorded("x") == {("same", told.active_at)}
        assert ledger.samples.recorded("y") == {("other", told.active_at)}
