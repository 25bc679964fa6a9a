"""Does a keeper keep its own ledger small, and tell in time what grows?"""

from __future__ import annotations

import logging
import os
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

from sexton.retention import removal_pace as pace
from sexton.settings.settings_values import Settings
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton

MB = 1_000_000


class Ticking(ManualClock):
    """A clock on which everything takes a while, and that remembers for how long somebody slept."""

    def __init__(self) -> None:
        super().__init__(datetime(2026, 6, 1, 12, tzinfo=UTC))
        self.slept: list[float] = []
        self._tick = 0.01

    def monotonic(self) -> float:
        self._tick *= 0.99  # what was just held is longer than what came after it
        self.advance(self._tick)
        return super().monotonic()

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        super().sleep(seconds)


def swollen(path: Path) -> None:
    """A ledger in which a lot was said and is not there any more."""
    with closing(open_ledger(str(path))):
        pass
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("CREATE TABLE big (content BLOB)")
        connection.execute("INSERT INTO big VALUES (zeroblob(5000000))")
        connection.execute("DROP TABLE big")


def test_a_keeper_gives_free_pages_back_in_steps_with_rests_between_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "REST", 2.0)  # longer than this clock takes to be looked at again
    path = tmp_path / "ledger.db"
    swollen(path)
    clock = Ticking()
    with Sexton(open_ledger(str(path)), Settings(), clock=clock) as opened:
        assert opened.ledger.hygiene.size().free_bytes > 4 * MB
        opened.sweep()
        assert opened.ledger.hygiene.size().free_bytes == 0
    assert path.stat().st_size < MB
    assert len(clock.slept) >= 4


def test_a_log_that_nobody_can_fold_in_is_told_of_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock = ManualClock(datetime(2026, 6, 1, 12, tzinfo=UTC))
    with Sexton(open_ledger(str(tmp_path / "ledger.db")), Settings(), clock=clock) as opened:
        with opened.worker() as worker:
            worker.session("talk").append(role="user", content="hello")
        os.truncate(tmp_path / "ledger.db-wal", 300 * MB)  # with nothing in it, so it takes no room
        with caplog.at_level(logging.WARNING, "sexton.keeper"):
            for _ in range(2):
                opened.sweep()
                clock.advance(timedelta(hours=1))
        told = [each for each in caplog.messages if "write-ahead log has 300000000 bytes" in each]
        assert len(told) == 1
