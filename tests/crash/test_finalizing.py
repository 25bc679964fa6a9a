"""A small campaign against keepers that finalize; `make crash` runs the big one."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.finalizing import CALLS, KILLS, SESSIONS, Finalizing, restart
from tests.crash.running import Place, Tally
from tests.kit.nursery import Nursery
from tests.kit.postgres_server import PostgresServer
from tests.scenario.finalizers_keepers import MODULE

MOST = 3


@pytest.fixture(scope="module")
def keepers() -> Iterator[Nursery]:
    """Starts keepers in processes of their own."""
    with Nursery(MODULE) as started:
        yield started


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path, postgres_server: PostgresServer) -> Place:
    """Where ledgers are made, once per engine."""
    return Place(tmp_path, postgres_server if request.param == "postgres" else None)


def test_keepers_killed_at_random_moments_lose_no_work_and_do_none_twice(
    place: Place, keepers: Nursery
) -> None:
    seed = int(os.environ.get("SEED") or 1)
    tally = Tally(module="", engine="", seed=seed, number=MOST, counted=KILLS)
    Finalizing(keepers, place, tally).round(random.Random(seed), 0)
    assert tally.events[KILLS] == MOST
    assert tally.events[CALLS] >= tally.events[SESSIONS] == 10 * MOST


def test_a_restart_leaves_ten_thousand_finished_works_alone(place: Place) -> None:
    restart(place.fresh())
