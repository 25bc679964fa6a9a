"""What every ledger promises when many threads want the same thing at the same moment."""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import Any

from sexton.core.schedule import Schedule
from sexton.core.session import Limit, Session
from sexton.sessions.model import Appended
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_samples import (
    IDLE,
    NO_RULES,
    NOON,
    at,
    birth,
    born,
    enrol,
    entry,
    everything,
    heard,
    holders,
    journal,
    race,
    reread,
    say,
    seen,
)

ROUNDS = 12
CROWD = 16


class RacesContract:
    """One winner each time; nobody else changes anything."""

    def test_a_key_gets_one_session_however_many_begin_it_together(self, ledger: Ledger) -> None:
        for turn in range(ROUNDS):
            key = f"key {turn}"
            jobs = [partial(ledger.book.begin, birth(key), NOON) for _ in range(CROWD)]
            [winner] = [each for each in race(jobs) if each is not None]
            assert ledger.book.current(key) == winner
        assert len(everything(ledger)) == ROUNDS

    def test_a_session_is_replaced_once(self, ledger: Ledger) -> None:
        old = born(ledger)
        for turn in range(ROUNDS):
            jobs = [
                partial(ledger.book.replace, old, IDLE, birth(), entry(old), at(turn))
                for _ in range(CROWD)
            ]
            [old] = [each for each in race(jobs) if each is not None]
        assert ledger.book.current("talk") == old
        assert len(everything(ledger)) == len(journal(ledger)) + 1 == ROUNDS + 1

    def test_a_session_is_ended_once(self, ledger: Ledger) -> None:
        for turn in range(ROUNDS):
            begun = born(ledger, f"{turn}")
            ends = [
                *[partial(ledger.book.end, seen(begun), IDLE, entry(begun), at(1))] * 8,
                *[partial(ledger.book.end_now, begun, "closed", at(1))] * 8,
            ]
            results = race(ends)
            assert sum(results) == 1
            assert reread(ledger, begun).end_reason == (
                "idle" if results.index(True) < 8 else "closed"
            )
            assert len(journal(ledger, begun)) == (results.index(True) < 8)

    def test_two_last_holders_that_leave_together_end_a_session_exactly_once(
        self, ledger: Ledger
    ) -> None:
        for turn in range(ROUNDS * 3):
            pair = [enrol(ledger, f"{turn} {name}") for name in ("anna", "berta")]
            begun = [born(ledger, f"{turn} {n}", source="cli", worker=pair[0]) for n in range(3)]
            for each in begun:
                assert ledger.book.join(each, pair[1], (), NOON)
            jobs = [partial(ledger.book.leave, worker, ("cli",), at(1)) for worker in pair]
            ended = [each.id for each in chain(*race(jobs))]
            assert sorted(ended) == sorted(each.id for each in begun)
            assert all(not reread(ledger, each).is_open for each in begun)

    def test_an_ownerless_session_is_adopted_by_one(self, ledger: Ledger) -> None:
        crowd = [enrol(ledger, f"{number}") for number in range(CROWD)]
        for turn in range(ROUNDS):
            begun = born(ledger, f"{turn}")
            jobs = [partial(ledger.book.join, begun, worker, (), at(1)) for worker in crowd]
            joined = [each for each in race(jobs) if each is not None]
            assert [(each.epoch, len(each.holders)) for each in joined] == [(2, 1)]
            assert reread(ledger, begun) == joined[0]

    def test_the_heirs_of_a_dead_holder_raise_the_epoch_once(self, ledger: Ledger) -> None:
        crowd = [enrol(ledger, f"{number}") for number in range(CROWD)]
        for turn in range(ROUNDS):
            dead = enrol(ledger, f"dead {turn}")
            begun = born(ledger, f"{turn}", worker=dead)
            jobs = [partial(ledger.book.join, begun, worker, (dead,), at(1)) for worker in crowd]
            [joined] = [each for each in race(jobs) if each is not None]
            assert (joined.epoch, len(joined.holders)) == (2, 1)
            assert reread(ledger, begun) == joined

    def test_a_joiner_and_a_leaver_agree_on_whether_the_session_lives(self, ledger: Ledger) -> None:
        for turn in range(ROUNDS * 2):
            leaver, joiner = enrol(ledger, f"leaver {turn}"), enrol(ledger, f"joiner {turn}")
            begun = born(ledger, f"{turn}", source="cli", worker=leaver)
            left, joined = race(
                [
                    partial(_leave, ledger, leaver),
                    partial(_join, ledger, begun, joiner),
                ]
            )
            assert (len(left), len(joined)) in ((1, 0), (0, 1))
            now = reread(ledger, begun)
            assert now.is_open == bool(joined)
            assert holders(now) == [joiner for _ in joined]

    def test_what_was_acknowledged_before_an_end_is_there_and_nothing_after(
        self, ledger: Ledger
    ) -> None:
        for turn in range(ROUNDS):
            begun = born(ledger, f"{turn}")
            talkers = [partial(_say_until_refused, ledger, begun, f"{n}") for n in range(4)]
            said = race([*talkers, partial(_end, ledger, begun)])
            found = [each.content for each in heard(ledger, begun)]
            assert sorted(found) == sorted(chain(*said))
            assert reread(ledger, begun).message_count == len(found)

    def test_messages_of_many_threads_get_numbers_of_their_own_without_gaps(
        self, ledger: Ledger
    ) -> None:
        one, two = born(ledger, "one"), born(ledger, "two")

        def talk(number: int) -> list[tuple[int, str]]:
            said: list[tuple[int, str]] = []
            for turn in range(6):
                texts = [f"{number} {turn} {n}" for n in range(number % 3 + 1)]
                appended = say(ledger, (one, two)[number % 2], *texts)
                assert appended is not None
                first = appended.last_seq - len(texts) + 1
                said += [(first + place, text) for place, text in enumerate(texts)]
            return said

        said = race([partial(talk, number) for number in range(64)])
        for session, mine in ((one, said[0::2]), (two, said[1::2])):
            expected = sorted(chain(*mine), key=lambda each: each[0])
            assert [(each.seq, each.content) for each in heard(ledger, session)] == expected
            assert [seq for seq, _ in expected] == list(range(1, len(expected) + 1))
            now = reread(ledger, session)
            assert now.message_count == len(expected)
            assert now.byte_count == sum(len(text) for _, text in expected)

    def test_policies_published_by_many_are_put_in_force_once(self, ledger: Ledger) -> None:
        for turn in range(1, ROUNDS + 1):
            publish = partial(ledger.policies.publish, f"{turn}", "text", "test", NOON)
            assert {stored.serial for stored in race([publish] * 8)} == {turn}
        assert len(journal(ledger)) == ROUNDS

    def test_different_policies_published_together_get_different_numbers(
        self, ledger: Ledger
    ) -> None:
        jobs = [partial(ledger.policies.publish, f"d{n}", f"{n}", "test", NOON) for n in range(8)]
        stored = race(jobs)
        assert sorted(each.serial for each in stored) == list(range(1, 9))
        assert ledger.policies.in_force() == max(stored, key=lambda each: each.serial)
        assert len(journal(ledger)) == 8

    def test_homes_attached_by_many_at_once_stay_apart_or_one(self, ledger: Ledger) -> None:
        for turn in range(4):
            attach = partial(ledger.homes.attach, f"lab {turn}", "hermes")
            jobs = [partial(attach, f"/{turn}/{n // 2}", "host", False) for n in range(CROWD)]
            homes = race(jobs)
            assert homes[0::2] == homes[1::2]
            assert len({home.name for home in homes}) == CROWD // 2

    def test_a_warning_is_given_by_one(self, ledger: Ledger) -> None:
        begun = born(ledger)
        for limit in Limit.MESSAGES, Limit.BYTES, Limit.TURNS, Limit.AGE:
            warn = partial(ledger.index.warn, seen(begun), limit, entry(begun), NOON)
            assert sum(race([warn] * 8)) == 1
        assert len(journal(ledger)) == 4

    def test_moves_that_touch_the_same_rows_in_another_order_do_not_wait_for_one_another(
        self, ledger: Ledger
    ) -> None:
        for turn in range(ROUNDS):
            crowd = [enrol(ledger, f"{turn} {n}") for n in range(6)]
            begun = born(ledger, f"{turn}", worker=crowd[0])
            for worker in crowd:
                assert ledger.book.join(begun, worker, (), NOON)
                assert ledger.book.start_turn(begun, worker, NO_RULES, NOON)
            race(
                [
                    *(partial(_finish, ledger, begun, worker) for worker in crowd[:3]),
                    *(partial(_leave, ledger, worker) for worker in crowd[3:]),
                    partial(_end, ledger, begun),
                    partial(_join, ledger, begun, crowd[0], *crowd[1:]),
                ]
            )
            now = reread(ledger, begun)
            assert (now.is_open, now.holders, now.errored) == (False, (), True)

    def test_writes_that_take_newer_policies_over_together_are_all_stored(
        self, ledger: Ledger
    ) -> None:
        begun = born(ledger)
        for serial in range(1, 9):
            said = partial(say, ledger, begun, "a", schedule=Schedule(serial))
            numbers = [found.last_seq for found in race([said] * 6) if found]
            assert sorted(numbers) == list(range(6 * serial - 5, 6 * serial + 1))


def _leave(ledger: Ledger, worker: str) -> list[Session]:
    return ledger.book.leave(worker, ("cli",), at(1))


def _join(ledger: Ledger, session: Session, worker: str, *dead: str) -> list[Session]:
    joined = ledger.book.join(session, worker, dead, at(1))
    return [] if joined is None else [joined]


def _finish(ledger: Ledger, session: Session, worker: str) -> list[Session]:
    ledger.book.finish_turn(session, worker, failed=True)
    return []


def _end(ledger: Ledger, session: Session) -> list[Any]:
    assert ledger.book.end_now(session, "closed", at(2))
    return []


def _say_until_refused(ledger: Ledger, session: Session, name: str) -> list[Any]:
    said: list[Any] = []
    appended: Appended | None = Appended(0, Limit.NONE, 0)
    while appended is not None and len(said) < 1_000:
        appended = say(ledger, session, f"{name} {len(said)}")
        said += [f"{name} {len(said)}"] if appended else []
    return said
