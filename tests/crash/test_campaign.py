"""A small crash campaign; `make crash` runs the big one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.crash.campaign import KILLS, Campaign
from tests.crash.running import Place, Tally
from tests.kit.nursery import Nursery
from tests.kit.postgres_server import PostgresServer

MOST = 12


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_processes_killed_at_random_moments_lose_nothing_that_was_acknowledged(
    engine: str, nursery: Nursery, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    seed = int(os.environ.get("SEED") or 1)
    place = Place(tmp_path, postgres_server if engine == "postgres" else None)
    tally = Tally(module="", engine=engine, seed=seed, number=MOST, counted=KILLS)
    tally.run(None, Campaign(nursery, place, tally).round)
    assert tally.failures == [], f"SEED={seed}"
    assert tally.events[KILLS] >= MOST
    assert tally.events["acknowledged"] > 0
