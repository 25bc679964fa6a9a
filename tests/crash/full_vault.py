"""A program that collects garbage into a vault on a disk that is full, then read only."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sexton.core.session import State
from sexton.errors import VaultError, VaultFull
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from tests.crash.removing_scene import (
    EVERYTHING,
    Truth,
    check,
    check_tidy,
    sessions,
    settings,
    truth,
)

PAGE = 4096


def collect(disk: Path) -> None:
    """Collect with less and less ballast; each time it is refused and all is there, or all went."""
    with tempfile.TemporaryDirectory() as elsewhere:
        url = str(Path(elsewhere, "ledger.db"))
        old = ManualClock(datetime.now(UTC) - timedelta(days=60))
        with Sexton(open_ledger(url), settings(disk), clock=old) as house:
            _talk(house)
        with Sexton(open_ledger(url), settings(disk)) as house:
            known = truth(house)
            house.plan(gc=EVERYTHING)
            (disk / "vault").mkdir(mode=0o700)
            print(*_rounds(disk, house, known))


def _talk(house: Sexton) -> None:
    with house.worker() as worker:
        for _ in range(4):
            session = worker.session(None, source="chat")
            session.append(role="user", content=os.urandom(20_000).hex())
            session.end()


def _rounds(disk: Path, house: Sexton, known: Mapping[str, Truth]) -> list[str]:
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(b"\0" * PAGE):
            pass
    refused = 0
    while True:
        try:
            house.apply(house.plan(gc=EVERYTHING), "receipt")
        except VaultFull:
            refused += 1
            assert {each.state for each in sessions(house)} == {State.ENDED}
            check(house, known)
            check_tidy(house)
            os.truncate(ballast, ballast.stat().st_size - PAGE)
        else:
            break
    assert {each.state for each in sessions(house)} == {State.TRASHED}
    house.undo("receipt")
    check(house, known)
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    with suppress(VaultError):
        house.apply(house.plan(gc=EVERYTHING), "read only")
        raise AssertionError("something was written")
    assert {each.state for each in sessions(house)} == {State.ENDED}
    check(house, known)
    check_tidy(house)
    return ["refused" if refused > 5 else str(refused), "kept"]


if __name__ == "__main__":
    collect(Path(sys.argv[1]))
