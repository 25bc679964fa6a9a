"""A fresh ledger on each engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sexton.ledger.opening import open_ledger
from sexton.ports import Ledger


@pytest.fixture
def ledger(engine_url: str) -> Iterator[Ledger]:
    """A fresh ledger, once per engine."""
    opened = open_ledger(engine_url)
    yield opened
    opened.close()
