"""What every ledger promises about what people are told."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any

from sexton.core.record import replace
from sexton.notifications.model import Event, Letter, LetterState, Notice
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_reviving import worker
from tests.contract.ledger_contract_samples import ALL, NOON, at, born, enrol, race

PENDING, SENDING, DELIVERED, FAILED, FOLDED = LetterState
TARGET = "webhook"


def notice(key: str = "reset/native/s1/1", **facts: Any) -> Notice:
    """Something to be told."""
    given: dict[str, Any] = {"event": Event.RESET, "title": "a title", "text": "a text"}
    return Notice(key=key, **(given | facts))


def post(ledger: Ledger, *keys: str, now: datetime = NOON, target: str = TARGET) -> None:
    """Put plain notices with these keys in."""
    ledger.outbox.post([notice(key) for key in keys], [target], now)


def claim(
    ledger: Ledger, by: str = "keeper", limit: int = ALL, now: datetime = NOON, target: str = TARGET
) -> list[Letter]:
    """Take on what there is for a target."""
    return ledger.outbox.claim(by, target, limit, now)


def one_taken(ledger: Ledger) -> Letter:
    """A letter that `keeper` has taken on."""
    post(ledger, "a")
    [taken] = claim(ledger, enrol(ledger, "keeper"))
    return taken


def letters(ledger: Ledger, state: LetterState | None = None) -> list[tuple[str, LetterState]]:
    """All letters and how far they have come, oldest first."""
    found = ledger.outbox.page(state, None, ALL)[::-1]
    return [(each.notice.key, each.state) for each in found]


def finishes(ledger: Ledger, taken: Letter) -> int:
    return int(ledger.outbox.finish(taken, at(1)))


def frees(ledger: Ledger) -> int:
    return ledger.outbox.free("nobody", at(1))


class OutboxContract:
    """A notice is told once for each target, and its telling belongs to one worker at a time."""

    def test_a_notice_comes_back_as_it_was_posted(self, ledger: Ledger) -> None:
        told = notice(event=Event.HELD, title="å ∂", text="x" * 5000, home="native", session="s1")
        ledger.outbox.post([told], [TARGET], at(1))
        [found] = ledger.outbox.page(None, None, ALL)
        assert found.notice == told
        assert (found.target, found.state, found.attempts) == (TARGET, PENDING, 0)
        assert (found.posted_at, found.not_before) == (at(1), at(1))
        assert (found.finished_at, found.last_error, found.worker) == (None, None, None)

    def test_a_notice_that_is_posted_again_stays_as_it_is(self, ledger: Ledger) -> None:
        taken = one_taken(ledger)
        ledger.outbox.finish(taken, at(1))
        ledger.outbox.post([notice("a", text="another"), notice("b")], [TARGET], at(2))
        assert letters(ledger) == [("a", DELIVERED), ("b", PENDING)]
        assert {each.notice.text for each in ledger.outbox.page(None, None, ALL)} == {"a text"}

    def test_every_target_is_told(self, ledger: Ledger) -> None:
        ledger.outbox.post([notice("a")], ["webhook", "apprise-1"], NOON)
        enrol(ledger, "keeper")
        [first] = claim(ledger, target="webhook")
        [second] = claim(ledger, target="apprise-1")
        assert (first.target, second.target) == ("webhook", "apprise-1")
        assert claim(ledger, target="elsewhere") == []

    def test_what_was_posted_is_known_whatever_came_of_it(self, ledger: Ledger) -> None:
        post(ledger, "a", "'b\"å/%")
        ledger.outbox.post([notice("c", folded=True)], [TARGET, "other"], NOON)
        known = ledger.outbox.known(["a", "'b\"å/%", "c", "d"])
        assert known == {"a", "'b\"å/%", "c"}
        assert ledger.outbox.known([]) == frozenset()

    def test_what_was_told_together_with_others_is_not_sent(self, ledger: Ledger) -> None:
        ledger.outbox.post([notice("a", folded=True)], [TARGET], NOON)
        assert claim(ledger, enrol(ledger, "keeper")) == []
        [found] = ledger.outbox.page(FOLDED, None, ALL)
        assert found.notice == notice("a", folded=True)

    def test_letters_are_taken_in_order_each_by_one(self, ledger: Ledger) -> None:
        post(ledger, "late", now=at(2))
        post(ledger, "early", "next", now=at(1))
        enrol(ledger, "keeper")
        enrol(ledger, "another")
        taken = claim(ledger, limit=2, now=at(2))
        assert [each.notice.key for each in taken] == ["early", "next"]
        assert {(each.worker, each.claim, each.attempts) for each in taken} == {("keeper", 1, 1)}
        assert [each.notice.key for each in claim(ledger, "another", now=at(2))] == ["late"]
        assert claim(ledger, now=at(9)) == []

    def test_a_letter_is_not_taken_before_its_time(self, ledger: Ledger) -> None:
        post(ledger, "a", now=at(2))
        assert claim(ledger, enrol(ledger, "keeper"), now=at(1)) == []

    def test_only_workers_that_are_there_take_letters(self, ledger: Ledger) -> None:
        post(ledger, "a")
        for name in ("left", "dead", "present"):
            enrol(ledger, name)
        ledger.book.leave("left", (), at(1))
        ledger.reaping.declare([(worker(ledger, "dead"), "x: y")], at(1))
        for name in ("left", "dead", "unknown"):
            assert claim(ledger, name) == []
        assert claim(ledger, "present")

    def test_a_delivered_letter_is_not_taken_again(self, ledger: Ledger) -> None:
        taken = one_taken(ledger)
        assert ledger.outbox.finish(taken, at(1))
        assert not ledger.outbox.finish(taken, at(2))
        assert not ledger.outbox.put_back(taken, "too late", at(2), at(2))
        assert claim(ledger, now=at(9)) == []
        [found] = ledger.outbox.page(DELIVERED, None, ALL)
        assert (found.finished_at, found.worker) == (at(1), None)

    def test_a_letter_that_was_put_back_is_tried_again(self, ledger: Ledger) -> None:
        taken = one_taken(ledger)
        assert ledger.outbox.put_back(taken, "no\nluck" + "!" * 2000, at(30), at(1))
        assert claim(ledger, now=at(29)) == []
        [again] = claim(ledger, now=at(30))
        assert (again.attempts, again.claim, again.finished_at) == (2, 2, None)
        assert (again.last_error or "").startswith("no luck!")
        assert len(again.last_error or "") == 1000
        assert not ledger.outbox.finish(taken, at(31))
        assert ledger.outbox.finish(again, at(31))

    def test_a_letter_that_was_given_up_stays_visible(self, ledger: Ledger) -> None:
        taken = one_taken(ledger)
        assert ledger.outbox.put_back(taken, "no such place", None, at(1))
        assert claim(ledger, now=at(9999)) == []
        [found] = ledger.outbox.page(FAILED, None, ALL)
        assert (found.last_error, found.finished_at) == ("no such place", at(1))

    def test_a_report_needs_the_worker_and_the_claim(self, ledger: Ledger) -> None:
        taken = one_taken(ledger)
        post(ledger, "b")
        [other] = claim(ledger)
        for stale in (
            replace(taken, claim=2),
            replace(taken, worker="another"),
            replace(taken, ref=99),
        ):
            assert not ledger.outbox.finish(stale, at(1))
            assert not ledger.outbox.put_back(stale, "x", None, at(1))
        assert letters(ledger, SENDING) == [("a", SENDING), ("b", SENDING)]
        assert ledger.outbox.finish(taken, at(1))
        assert ledger.outbox.put_back(other, "x", None, at(1))

    def test_letters_of_who_is_gone_are_free_those_of_others_are_not(self, ledger: Ledger) -> None:
        for name in ("left", "dead", "lives", "mine", "done"):
            post(ledger, name)
            [taken] = claim(ledger, enrol(ledger, name))
        post(ledger, "waits")
        ledger.outbox.finish(taken, at(1))
        ledger.book.leave("left", (), at(1))
        ledger.reaping.declare([(worker(ledger, "dead"), "x: y")], at(1))
        assert ledger.outbox.free("mine", at(60)) == 3
        states = dict(letters(ledger))
        assert (states.pop("lives"), states.pop("done")) == (SENDING, DELIVERED)
        assert set(states.values()) == {PENDING}
        assert [each.notice.key for each in claim(ledger, "mine", now=at(59))] == ["waits"]
        again = claim(ledger, "mine", now=at(60))
        assert {each.notice.key for each in again if each.claim == 2} == {"left", "dead", "mine"}

    def test_letters_that_a_clock_put_off_for_long_are_sent_once_the_clock_is_right(
        self, ledger: Ledger
    ) -> None:
        days = {"sending": at(86_400 * 50), "wished": at(86_400 * 2), "ahead": at(86_400 * 99)}
        post(ledger, "sending", now=days["sending"])
        claim(ledger, enrol(ledger, "keeper"), now=days["sending"])
        for key in ("wished", "ahead"):
            post(ledger, key, now=days[key])
        assert ledger.outbox.free("nobody", NOON) == 0
        assert [each.notice.key for each in claim(ledger, now=NOON)] == ["ahead"]
        found = {each.notice.key: each.not_before for each in ledger.outbox.page(None, None, ALL)}
        assert found == days | {"ahead": NOON}

    def test_old_letters_are_forgotten_whatever_became_of_them(self, ledger: Ledger) -> None:
        taken = one_taken(ledger)
        post(ledger, "b", now=at(1))
        post(ledger, "c", now=at(2))
        assert ledger.outbox.forget(at(2)) == 2
        assert letters(ledger) == [("c", PENDING)]
        assert not ledger.outbox.finish(taken, at(3))

    def test_letters_are_shown_newest_first_page_by_page(self, ledger: Ledger) -> None:
        post(ledger, *"abcd")
        [taken] = claim(ledger, enrol(ledger, "keeper"), limit=1)
        ledger.outbox.finish(taken, at(1))
        for state, expected in ((None, "dcba"), (PENDING, "dcb"), (DELIVERED, "a")):
            found, after = "", None
            for _ in range(3):
                page = ledger.outbox.page(state, after, 2)
                assert len(page) <= 2
                found += "".join(each.notice.key for each in page)
                after = page[-1].ref if page else after
            assert found == expected

    def test_it_is_remembered_since_when_a_reset_is_held_back(self, ledger: Ledger) -> None:
        first, second, third = (born(ledger, f"{number}").ref for number in range(3))
        assert ledger.outbox.held_since([], at(1)) == {}
        assert ledger.outbox.held_since([first, second], at(1)) == {first: at(1), second: at(1)}
        assert ledger.outbox.held_since([second, first], at(2)) == {first: at(1), second: at(1)}
        assert ledger.outbox.held_since([second, third], at(3)) == {second: at(1), third: at(3)}
        assert ledger.outbox.held_since([first, second], at(4)) == {first: at(4), second: at(1)}
        assert ledger.outbox.held_since([second, 99], at(5)) == {second: at(1)}
        assert ledger.outbox.held_since([], at(6)) == {}


class OutboxRacesContract:
    """A notice is told once, however many meet."""

    def test_keepers_that_post_together_tell_everything_once(self, ledger: Ledger) -> None:
        keepers = [enrol(ledger, f"keeper {number}") for number in range(8)]
        for turn in range(4):
            keys = [f"{turn}/{number}" for number in range(20)]
            race([partial(post, ledger, *order) for order in (keys, keys[::-1]) * 4])
            taken = list(chain(*race([partial(claim, ledger, each) for each in keepers])))
            taken += claim(ledger, keepers[0])
            assert Counter(each.notice.key for each in taken) == Counter(keys)

    def test_a_keeper_that_wakes_up_and_the_one_that_frees_its_letter_agree(
        self, ledger: Ledger
    ) -> None:
        for turn in range(12):
            post(ledger, f"{turn}")
            [taken] = claim(ledger, enrol(ledger, f"{turn}"))
            ledger.reaping.declare([(worker(ledger, f"{turn}"), "x: y")], at(1))
            free = [partial(frees, ledger)] * 3
            done, *freed = race([partial(finishes, ledger, taken), *free])
            assert done + sum(freed) == 1
            if not done:
                [again] = claim(ledger, enrol(ledger, f"heir {turn}"), now=at(2))
                assert ledger.outbox.finish(again, at(2))
