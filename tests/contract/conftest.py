"""A fresh ledger on each engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sexton.store.ledger import Ledger
from sexton.store.opening import open_ledger


@pytest.fixture
def ledger(engine_url: str) -> Iterator[Ledger]:
    """A fresh ledger, once per engine."""
    # Of the deadlines of a ledger other tests tell: here many threads may be let run late.
    opened = open_ledger(engine_url, patience=240)
    yield opened
    opened.close()
