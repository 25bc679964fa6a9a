"""A ledger under the settings of a text, at a time of the test's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sexton.settings.loader import load
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton

START = datetime(2026, 6, 1, 12, tzinfo=UTC)
FAR = datetime(9000, 1, 1, tzinfo=UTC)
"""So far that whatever has an end is over: what still holds then holds for ever."""
MOST = 10**18
"""Beyond the largest number that any setting takes."""

Opener = Callable[[str], Sexton]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


@pytest.fixture
def opened(tmp_path: Path, clock: ManualClock) -> Iterator[Opener]:
    """Opens a ledger under the settings of a text."""
    all_opened: list[Sexton] = []

    def open_with(text: str) -> Sexton:
        file = tmp_path / "sexton.yaml"
        file.write_text(text)
        ledger = open_ledger(str(tmp_path / "ledger.db"))
        sexton = Sexton(ledger, load(file, {}), clock=clock)
        sexton.publish()
        all_opened.append(sexton)
        return sexton

    yield open_with
    for sexton in all_opened:
        sexton.close()
