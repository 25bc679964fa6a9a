"""What does it cost to put sessions into the trash?"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit.nursery import Nursery

pytestmark = pytest.mark.slow

PROGRAM = "tests.scenario.collecting_cost"


def test_the_disk_is_synced_once_for_all_and_at_each_step_only_before_files_go(
    tmp_path: Path,
) -> None:
    with Nursery(PROGRAM) as nursery:
        child = nursery.start(f"{PROGRAM}:count", str(tmp_path))
        assert child.wait() == 0, child.lines()
        told = {name: int(syncs) for name, syncs in (line.split() for line in child.lines())}
    assert told["few"] == told["many"]
    assert told["files"] > told["many"]
