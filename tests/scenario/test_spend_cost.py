"""What does the guard of a turn cost?"""

from __future__ import annotations

from pathlib import Path

from tests.kit.nursery import Nursery

PROGRAM = "tests.scenario.spend_cost"


def test_a_guarded_turn_syncs_the_disk_once_more_than_a_plain_one(tmp_path: Path) -> None:
    with Nursery(PROGRAM) as nursery:
        child = nursery.start(f"{PROGRAM}:count", f"sqlite:///{tmp_path / 'ledger.db'}")
        assert child.wait() == 0
        told = dict(line.split() for line in child.lines())
    # What is remembered of the tools is written with the end of the turn.
    assert float(told["plain"]) == 2.0
    assert float(told["guarded"]) == 3.0
