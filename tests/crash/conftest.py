"""Processes for tests that hurt them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kit.nursery import Nursery


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    """Starts the programs of this folder in processes of their own."""
    with Nursery("tests.crash.appending", "tests.crash.forking", "tests.crash.holding") as started:
        yield started
