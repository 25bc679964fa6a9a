"""However a remover is killed, every session of a Hermes home is whole and in one place."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import apsw

from sexton.core.session import State
from sexton.retention.model import WantedFiles
from sexton.wiring.removal_wiring import NEAR
from tests.scenario.conftest import hermes, hermes_python, scene
from tests.scenario.hermes_home import HermesScene
from tests.scenario.hermes_house import DAY, House, is_sound, make_older, many

__all__ = ["hermes", "hermes_python", "scene"]

SESSIONS, MESSAGES = 40, 30
LEFT = (40, 25)
"""A remover is killed when so many sessions are left: while it copies, and while it removes."""
PATIENCE = 240.0


def test_however_a_remover_of_a_hermes_home_is_killed_every_session_is_whole_and_in_one_place(
    scene: HermesScene, tmp_path: Path
) -> None:
    many(scene, "old", SESSIONS, MESSAGES)
    make_older(scene, 30 * DAY)
    before = scene.sql("SELECT * FROM messages ORDER BY id")
    scene.close()
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    house = House(url, scene.path)
    house.observe()
    house.sexton.close()
    for left in LEFT:
        _remove_until(scene, url, left)
        _mend_by_a_command(url)
        house = House(url, scene.path)
        assert house.ledger.vault.unfinished(NEAR) == []
        house.sexton.sweep()
        house.observe()
        check(scene, house)
        house.sexton.close()
    house = House(url, scene.path)
    receipts = {each.receipt for each in house.ledger.vault.page(WantedFiles(), 0, 1000)}
    assert receipts
    for receipt in receipts:
        house.sexton.undo(receipt)
    assert scene.sql("SELECT * FROM messages ORDER BY id") == before
    scene.close()
    assert is_sound(scene.database)
    house.sexton.close()


def _remove_until(scene: HermesScene, url: str, left: int) -> None:
    """Have a remover begin, and kill it when so many are left."""
    remover = subprocess.Popen(
        [
            sys.executable, "-m", "sexton", "gc", "--yes", "--trivial-max", "100",
            "--home", "work", "--ledger", url,
        ],
        stdout=subprocess.PIPE,
    )  # fmt: skip
    assert remover.stdout
    try:
        while not remover.stdout.readline().startswith(b"receipt"):
            assert remover.poll() is None
        deadline = time.monotonic() + PATIENCE
        while len(_rows(scene)) > left and remover.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.001)
    finally:
        remover.kill()
        remover.wait()
        remover.stdout.close()


def _mend_by_a_command(url: str) -> None:
    """Whatever removes or restores first completes what was begun, also in an unlisted home."""
    command = [sys.executable, "-m", "sexton", "trash", "empty", "--yes", "--ledger", url]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)


def _rows(scene: HermesScene) -> dict[str, int]:
    """How many messages each session of the home has."""
    db = apsw.Connection(str(scene.database), flags=apsw.SQLITE_OPEN_READONLY)
    db.set_busy_timeout(240_000)
    sql = """
        SELECT s.id, (SELECT COUNT(*) FROM messages AS m WHERE m.session_id = s.id)
        FROM sessions AS s"""
    try:
        return {str(id): int(count) for id, count in db.execute(sql).fetchall()}  # type: ignore[arg-type]
    finally:
        db.close()


def check(scene: HermesScene, house: House) -> None:
    """No session is in two places, in none, or in parts."""
    here = _rows(scene)
    for number in range(SESSIONS):
        (found,) = house.ledger.index.find("work", f"old{number}")
        assert (found.state is State.TRASHED) != (found.id in here)
        assert here.get(found.id, MESSAGES) == MESSAGES
