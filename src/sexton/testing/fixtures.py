"""Fixtures for pytest; a conftest.py names this module in `pytest_plugins`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sexton.testing.manual_clock import ManualClock
from sexton.testing.throw_away import house
from sexton.wiring import Sexton


@pytest.fixture
def sexton_clock() -> ManualClock:
    """A clock that only the test moves."""
    return ManualClock()


@pytest.fixture
def sexton_house(sexton_clock: ManualClock) -> Iterator[Sexton]:
    """Sexton on an empty ledger of the test's own, which goes by `sexton_clock`."""
    with house(clock=sexton_clock) as opened:
        yield opened
