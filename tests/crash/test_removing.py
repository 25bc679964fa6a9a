"""A small campaign against processes that remove and restore; `make crash` runs the big one."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.removing import KILLS, Removing
from tests.crash.removing_victims import MODULE
from tests.crash.running import Place, Tally
from tests.crash.small_disk import told_on_a_small_disk
from tests.crash.tracing import tracer
from tests.kit.nursery import Nursery
from tests.kit.postgres_server import PostgresServer
from tests.layers import unavailable

MOST = 6


@pytest.fixture(scope="module")
def removers() -> Iterator[Nursery]:
    """Starts processes that remove and restore."""
    with Nursery(MODULE) as started:
        yield started


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_however_a_remover_is_killed_every_session_is_whole_and_in_one_place(
    engine: str, removers: Nursery, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    if tracer() is None:  # only the big campaign has the rounds for random moments
        unavailable("strace: there is none here, or it may not look at other processes")
    seed = int(os.environ.get("SEED") or 1)
    place = Place(tmp_path, postgres_server if engine == "postgres" else None)
    tally = Tally(module="", engine=engine, seed=seed, number=MOST, counted=KILLS)
    Removing(removers, place, tally).round(random.Random(seed), seed)


def test_with_a_full_or_read_only_disk_under_the_vault_nothing_is_removed(tmp_path: Path) -> None:
    told = told_on_a_small_disk(tmp_path, sys.executable, "-m", "tests.crash.full_vault")
    assert told == ["refused kept"]
