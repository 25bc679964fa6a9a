"""The demonstration home has the figures that were reported, and the real Hermes opens it."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

from sexton.homes.hermes.demo.demo_writer import write_home
from sexton.homes.hermes.demo.population import HELD, Resident, population
from tests.scenario.hermes_home import Hermes

NOW = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list[str]]]:
    """A home, and its tables before Hermes has opened it for the first time."""
    place = tmp_path_factory.mktemp("demo") / "hermes"
    write_home(place, NOW, "UTC")
    return place, _shape(place / "state.db")


@pytest.fixture
def home(written: tuple[Path, dict[str, list[str]]]) -> Path:
    return written[0]


@pytest.fixture(scope="module")
def residents() -> list[Resident]:
    return population(NOW).here


def test_the_sessions_are_as_many_as_were_reported(residents: list[Resident]) -> None:
    assert len(residents) == len({each.id for each in residents}) == 3049
    assert Counter(each.reason for each in residents) == {
        "cron_complete": 1275, None: 887, "recovered": 640, "cli_close": 229,
        "session_reset": 17, "compression": 1,
    }  # fmt: skip
    trivial = sum(each.messages <= 5 for each in residents)
    assert round(100 * trivial / len(residents), 1) == 67.3
    assert max(each.messages for each in residents) == 602


@pytest.mark.slow
def test_the_files_are_as_many_as_big_and_as_old_as_were_reported(home: Path) -> None:
    files = [each for each in (home / "sessions").iterdir() if each.name != "sessions.json"]
    sizes = [each.stat().st_size for each in files]
    assert (len(files), sum(sizes), max(sizes)) == (728, 94_330_000, 725_000)
    cron = [each for each in files if each.name.startswith("session_cron_")]
    assert round(100 * len(cron) / len(files), 1) == 73.5
    limits = [timedelta(hours=hours) for hours in (1, 6, 24, 168)]
    ages = [NOW - datetime.fromtimestamp(each.stat().st_mtime, UTC) for each in files]
    assert Counter(sum(age >= limit for limit in limits) for age in ages) == {
        0: 9, 1: 54, 2: 245, 3: 418, 4: 2,
    }  # fmt: skip
    biggest = json.loads(max(files, key=lambda each: each.stat().st_size).read_bytes())
    assert len(biggest["messages"]) == biggest["message_count"] == 602


def test_the_real_hermes_opens_it_and_works_in_it(
    hermes: Hermes, written: tuple[Path, dict[str, list[str]]], tmp_path: Path
) -> None:
    home = tmp_path / "own"  # other tests look at what was written
    home.mkdir()
    shutil.copy(written[0] / "state.db", home)
    assert hermes.ask(home, "sql", "SELECT COUNT(*) FROM sessions") == [[3049]]
    assert hermes.ask(home, "sql", "SELECT version FROM schema_version") == [[22]]
    assert hermes.ask(home, "get_session", HELD)["source"] == "telegram"
    found = hermes.ask(home, "search_messages", "preview", limit=3)
    assert len(found) == 3
    hermes.ask(home, "append_message", HELD, "user", "an unheardofword was said")
    (again,) = hermes.ask(home, "search_messages", "unheardofword")
    assert again["session_id"] == HELD
    assert hermes.ask(home, "get_compression_tip", "20260518_214420_0c99aa21") == HELD
    removed = hermes.ask(home, "prune_sessions", older_than_days=80)
    assert removed > 0
    assert hermes.ask(home, "sql", "PRAGMA integrity_check") == [["ok"]]
    hermes.ask(home, "close")


def test_it_has_every_column_that_hermes_would_have_made(
    hermes: Hermes, written: tuple[Path, dict[str, list[str]]], tmp_path: Path
) -> None:
    hermes.ask(tmp_path, "open")
    hermes.ask(tmp_path, "close")
    theirs, ours = _shape(tmp_path / "state.db"), written[1]
    assert ours == {table: theirs[table] for table in ours}
    assert ours.keys() == theirs.keys()


def _shape(database: Path) -> dict[str, list[str]]:
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        tables = [str(name) for (name,) in rows]
        return {
            table: [str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})")]
            for table in tables
            if not table.startswith(("messages_fts", "sqlite_"))
        }
    finally:
        connection.close()
