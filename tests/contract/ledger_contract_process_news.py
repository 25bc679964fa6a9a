"""What every ledger promises about what is told of background processes."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from functools import partial
from typing import Any

from sexton.core.record import replace
from sexton.core.session import Session
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_processes import HERE, end, registered, sample
from tests.contract.ledger_contract_samples import NOON, at, born, entry, journal, race


class ProcessNewsContract:
    """Each thing is told of a process once, and whose it was is not forgotten."""

    def test_whose_process_it_was_before_is_journalled_there(self, ledger: Ledger) -> None:
        first, second = born(ledger), born(ledger, "other")
        line = replace(entry(second), action="move_process")

        def move(session: Session, minute: int, **other: Any) -> None:
            process = sample(identity=replace(HERE, **other))
            assert ledger.registry.register(process, session, (line, at(minute)))

        others: tuple[dict[str, Any], ...] = (
            {"started": 8},
            {"boot_id": "next"},
            {"host": "other"},
            {"pid": 41},
            {"pid": 0},
        )
        for minute, other in enumerate(others):
            move(first, minute, **other)
        move(second, 5)
        move(second, 6, pid=0)
        ledger.registry.end(registered(ledger, first, 42).ref, "exited", at(7))
        move(second, 8, pid=42)
        assert journal(ledger) == []
        move(first, 9)
        move(first, 10)
        [found] = journal(ledger)
        assert (found.session, found.action, found.at) == (second.id, "move_process", at(9))
        ended = born(ledger, "third")
        end(ledger, ended)
        assert ledger.registry.register(sample(), ended, (line, at(11))) is None
        assert len(journal(ledger)) == 1

    def test_people_are_told_each_thing_of_a_process_by_one_only(self, ledger: Ledger) -> None:
        session = born(ledger)
        for pid in range(1, 9):
            process = registered(ledger, session, pid)
            tell = partial(ledger.registry.tell, process.ref, "left", at(1), entry(session))
            assert Counter(race([tell] * 4)) == {(at(1), False): 3, (at(1), True): 1}
        assert len(journal(ledger, session)) == 8
        other = registered(ledger, session)
        assert ledger.registry.tell(other.ref, "left", at(2)) == (at(2), True)
        assert ledger.registry.tell(other.ref, "stop", at(3)) == (at(3), True)
        assert ledger.registry.tell(other.ref, "left", at(4)) == (at(2), False)

    def test_what_was_told_of_a_process_goes_with_it(self, ledger: Ledger) -> None:
        session, month = born(ledger), timedelta(days=31)
        process = registered(ledger, session)
        assert ledger.registry.tell(process.ref, "left", at(1)) == (at(1), True)
        assert ledger.registry.forget(NOON + month) == 1
        assert ledger.registry.tell(process.ref, "left", NOON + month) is None
