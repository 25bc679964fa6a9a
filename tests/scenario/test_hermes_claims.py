"""What a real Hermes home itself says about who is at a session."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from sexton.liveness.evidence import Verdict
from tests.scenario.hermes_home import HermesScene
from tests.unit.hermes_holding import ticks

ME = os.getpid()
LIVE, DEAD = Verdict.LIVE, Verdict.DEAD


def verdict(scene: HermesScene, id: str = "one") -> Verdict:
    """What is known of the owner, with nobody else at the home."""
    scene.close()
    return scene.home.owners([id])[id].verdict


def lease(scene: HermesScene, **otherwise: Any) -> None:
    entry = {"session_id": "one", "pid": ME, "process_start_time": psutil.Process().create_time()}
    place = scene.path / "runtime"
    place.mkdir(exist_ok=True)
    (place / "active_sessions.json").write_text(json.dumps({"entries": [entry | otherwise]}))


@pytest.mark.parametrize(
    ("otherwise", "found"),
    [
        ({}, LIVE),
        ({"process_start_time": None}, LIVE),
        ({"process_start_time": 10**400}, LIVE),
        ({"process_start_time": 1e9}, DEAD),
        ({"pid": 0}, DEAD),
        ({"pid": "1"}, DEAD),
        ({"session_id": "another"}, DEAD),
        ({"session_id": ["one"]}, DEAD),
    ],
)
def test_a_lease_of_a_living_process_holds(
    scene: HermesScene, otherwise: dict[str, Any], found: Verdict
) -> None:
    scene.start("one")
    lease(scene, **otherwise)
    assert verdict(scene) is found


@pytest.mark.parametrize("text", ["", "[", "[1]", '{"entries": 5}', '{"entries": [[]]}', "null"])
def test_a_broken_lease_file_claims_nothing(scene: HermesScene, text: str) -> None:
    scene.start("one")
    lease(scene)
    (scene.path / "runtime" / "active_sessions.json").write_text(text)
    assert verdict(scene) is DEAD


@pytest.mark.parametrize(
    ("who", "expires", "found"),
    [
        ("pid={}", 300, LIVE),
        ("{}:7:abc", 300, LIVE),
        ("pid={}", -1, DEAD),
        ("pid=99999{}", 300, DEAD),
        ("odd", 300, DEAD),
        ("pid=" + "9" * 5_000, 300, DEAD),
    ],
    ids=["as Hermes writes it", "as older ones do", "over", "of nobody", "odd", "endless"],
)
def test_a_session_that_is_being_compressed_is_live(
    scene: HermesScene, who: str, expires: float, found: Verdict
) -> None:
    scene.start("one")
    holder, now = scene.ask("lock_holder"), time.time()
    its = holder.removeprefix("pid=").partition(":")[0]
    holder = holder.replace(f"pid={its}", who.format(its))
    scene.sql("INSERT INTO compression_locks VALUES ('one', ?, ?, ?)", holder, now, now + expires)
    assert verdict(scene) is found


@pytest.mark.parametrize(
    ("completed", "off", "found"), [(None, 0, LIVE), (None, 1, DEAD), (1.0, 0, DEAD)]
)
def test_whoever_waits_for_what_it_delegated_is_alive(
    scene: HermesScene, completed: float | None, off: int, found: Verdict
) -> None:
    scene.start("one")
    scene.sql(
        "INSERT INTO async_delegations (delegation_id, origin_session, state, dispatched_at, "
        "updated_at, completed_at, owner_pid, owner_started_at) "
        "VALUES ('d', 'one', 'running', 1, 1, ?, ?, ?)",
        completed, ME, ticks(ME) + off,
    )  # fmt: skip
    assert verdict(scene) is found


@pytest.mark.parametrize(
    ("status", "off", "found"), [("running", 0, LIVE), ("running", 1, DEAD), ("completed", 0, DEAD)]
)
def test_a_job_is_alive_while_the_process_that_executes_it_is(
    scene: HermesScene, status: str, off: int, found: Verdict
) -> None:
    id = "cron_daily_news_20260101_120000"
    scene.start(id, "cron")
    _execute(scene.path, status, ticks(ME) + off)
    assert verdict(scene, id) is found


def test_what_can_not_be_read_as_executions_claims_nothing(scene: HermesScene) -> None:
    id = "cron_daily_news_20260101_120000"
    scene.start(id, "cron")
    (scene.path / "cron").mkdir(exist_ok=True)
    (scene.path / "cron" / "executions.db").write_bytes(b"no database at all" * 100)
    assert verdict(scene, id) is DEAD


def test_a_session_that_the_gateway_leads_to_is_a_conversation_of_it(scene: HermesScene) -> None:
    scene.start("one", "unknown")
    entry = json.dumps({"session_id": "one"})
    scene.sql("INSERT INTO gateway_routing VALUES ('', 'key', ?, 1)", entry)
    scene.sql("INSERT INTO gateway_routing VALUES ('', 'broken', '{', 1)")
    assert verdict(scene) is Verdict.UNKNOWN


def _execute(home: Path, status: str, started: int) -> None:
    """An execution as Hermes's scheduler writes it down."""
    (home / "cron").mkdir(exist_ok=True)
    made = sqlite3.connect(home / "cron" / "executions.db")
    made.execute(
        "CREATE TABLE executions (id TEXT, job_id TEXT, source TEXT, process_id TEXT, pid INTEGER, "
        "process_started_at INTEGER, status TEXT, claimed_at TEXT)"
    )
    made.execute(
        "INSERT INTO executions VALUES ('e', 'daily_news', 's', 'p', ?, ?, ?, ?)",
        (ME, started, status, "2026-01-01T12:00:00+00:00"),
    )
    made.commit()
    made.close()
