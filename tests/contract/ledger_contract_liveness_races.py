"""What every ledger promises when beats, reaps and revivals meet."""

from __future__ import annotations

from functools import partial

from sexton.core.session import Session
from sexton.liveness.model import Worker
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_reviving import reap, reap_of, revive, worker
from tests.contract.ledger_contract_samples import (
    NOON,
    at,
    birth,
    born,
    enrol,
    holders,
    journal,
    race,
    reread,
    say,
)

ROUNDS = 12
CROWD = 16


def beats(ledger: Ledger, id: str) -> int:
    """How many beats were heard."""
    return int(ledger.reaping.beat(id) is not None)


def reaps(ledger: Ledger, *sessions: Session) -> int:
    """How many of the sessions, as they were seen, could be reaped."""
    return sum(reap(ledger, *map(reap_of, sessions)))


def declares(ledger: Ledger, dead: Worker) -> int:
    """How many deaths could be declared of the worker as it was seen."""
    return ledger.reaping.declare([(dead, "lease_expired: silent")], at(1))


def joins(ledger: Ledger, session: Session, joiner: str) -> int:
    """How many could join."""
    return int(ledger.book.join(session, joiner, (), at(1)) is not None)


def says(ledger: Ledger, session: Session) -> int:
    """How many words were stored."""
    return int(say(ledger, session, "still here", now=at(1)) is not None)


def leaves(ledger: Ledger, id: str) -> int:
    """How many sessions ended with the worker."""
    return len(ledger.book.leave(id, ("cli",), at(1)))


class LivenessRacesContract:
    """One winner each time, and the loser is told."""

    def test_a_session_is_reaped_once(self, ledger: Ledger) -> None:
        for turn in range(ROUNDS):
            begun = born(ledger, f"{turn}", worker=enrol(ledger, f"{turn}"))
            assert sum(race([partial(reaps, ledger, begun)] * CROWD)) == 1
            assert len(journal(ledger, begun)) == 1

    def test_many_sessions_of_many_holders_are_reaped_once_in_whatever_order(
        self, ledger: Ledger
    ) -> None:
        for turn in range(ROUNDS):
            crowd = [enrol(ledger, f"{turn} {number}") for number in range(4)]
            for number in range(12):
                begun = born(ledger, f"{turn} {number}", worker=crowd[number % 4])
                ledger.book.join(begun, crowd[(number + 1 + turn) % 4], (), NOON)
            found = {each.ref: each for id in crowd for each in ledger.reaping.sessions_of(id)}
            all = list(found.values())
            orders = (all, all[::-1], all[5:] + all[:5], all[3::-1] + all[4:])
            assert sum(race([partial(reaps, ledger, *order) for order in orders])) == 12
            assert [len(journal(ledger, each)) for each in all] == [1] * 12

    def test_a_beat_and_a_reap_agree_on_whether_the_session_lives(self, ledger: Ledger) -> None:
        for turn in range(ROUNDS * 3):
            id = enrol(ledger, f"{turn}")
            begun = born(ledger, id, worker=id)
            beaten, reaped = race([partial(beats, ledger, id), partial(reaps, ledger, begun)])
            assert beaten + reaped == 1
            assert beats(ledger, id) == beaten
            assert reread(ledger, begun).is_open == beaten

    def test_a_beat_and_a_declaration_agree_on_who_lives(self, ledger: Ledger) -> None:
        for turn in range(ROUNDS * 3):
            as_seen = worker(ledger, enrol(ledger, f"{turn}"))
            beaten, declared = race(
                [partial(beats, ledger, as_seen.id), partial(declares, ledger, as_seen)]
            )
            assert beaten + declared == 1
            assert beats(ledger, as_seen.id) == beaten

    def test_whoever_joins_while_a_session_is_reaped_holds_it_or_is_refused(
        self, ledger: Ledger
    ) -> None:
        for turn in range(ROUNDS * 3):
            begun = born(ledger, f"{turn}", worker=enrol(ledger, f"dead {turn}"))
            joiner = enrol(ledger, f"joins {turn}")
            joined, reaped = race(
                [partial(joins, ledger, begun, joiner), partial(reaps, ledger, begun)]
            )
            assert joined + reaped == 1
            found = reread(ledger, begun)
            assert found.is_open == (joiner in holders(found)) == joined

    def test_a_write_and_a_reap_agree_on_whether_it_was_said(self, ledger: Ledger) -> None:
        for turn in range(ROUNDS * 3):
            begun = born(ledger, f"{turn}", worker=enrol(ledger, f"{turn}"))
            said, reaped = race([partial(says, ledger, begun), partial(reaps, ledger, begun)])
            assert said + reaped == 1

    def test_a_session_is_revived_once_and_never_beside_a_newer_one(self, ledger: Ledger) -> None:
        for turn in range(ROUNDS):
            begun = born(ledger, f"{turn}", worker=enrol(ledger, f"dead {turn}"))
            assert reaps(ledger, begun) == 1
            heirs = [enrol(ledger, f"{turn} {number}") for number in range(8)]
            revivals = [partial(revive, ledger, begun, heir) for heir in heirs]
            births = [partial(ledger.book.begin, birth(f"{turn}"), at(1)) for _ in heirs]
            [winner] = [each for each in race([*revivals, *births]) if each is not None]
            assert ledger.book.current(f"{turn}") == winner

    def test_leaving_and_being_reaped_at_once_end_a_session_once(self, ledger: Ledger) -> None:
        for turn in range(ROUNDS * 2):
            id = enrol(ledger, f"{turn}")
            begun = [born(ledger, f"{turn} {n}", source="cli", worker=id) for n in range(3)]
            assert sum(race([partial(leaves, ledger, id), partial(reaps, ledger, *begun)])) == 3
            assert [len(journal(ledger, each)) for each in begun] == [1] * 3
