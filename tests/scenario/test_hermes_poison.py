"""A home whose schema would do more than Hermes's own is not changed, and costs no more to read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from sexton.core.plan import Result
from sexton.errors import HomeNotFound, HomeRefused, HomeUnknown, HomeUnreadable
from sexton.homes.hermes.acting import changing
from sexton.homes.hermes.condition import Machine, condition_of
from sexton.homes.hermes.hermes_writer import Writer
from sexton.homes.hermes.home import HermesHome
from sexton.liveness.process_identity import SystemProcesses
from sexton.processes.process_table import begun_at
from sexton.testing import ManualClock
from tests.golden import golden
from tests.scenario.hermes_home import HermesScene
from tests.scenario.hermes_house import DAY, House, make_older, many
from tests.scenario.hermes_poison import IN_TABLES, IN_TRIGGERS, UNREADABLE, poison
from tests.scenario.test_hermes_schema_30 import Home

FOR_WRITERS = {**IN_TRIGGERS, **IN_TABLES}


@pytest.fixture
def house(tmp_path: Path, scene: HermesScene) -> Iterator[House]:
    """A home with one session that nobody owns, one that is garbage, and a bystander's words."""
    scene.start("left")
    many(scene, "old", 1, 2)
    scene.start("bystander", "telegram", session_key="agent:main:telegram:dm:7")
    scene.say("bystander", "Good morning")
    make_older(scene, 30 * DAY)
    opened = House(f"sqlite:///{tmp_path / 'ledger.db'}", scene.path)
    yield opened
    opened.sexton.close()


def everything(database: Path) -> list[list[tuple[Any, ...]]]:
    db = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return [db.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall()
                for table in ("sessions", "messages")]  # fmt: skip
    finally:
        db.close()


def examine(path: Path) -> int:
    """Look at a home as doctor does; its schema version."""
    machine = Machine(SystemProcesses(), begun_at)
    return condition_of(path, ManualClock(), machine, "UTC").storage.schema


@pytest.mark.parametrize("kind", FOR_WRITERS)
def test_a_poisoned_home_is_looked_at_and_never_changed(
    house: House, scene: HermesScene, kind: str
) -> None:
    reaping, collecting = house.plan(), house.garbage()
    assert reaping.actions
    assert collecting.actions
    scene.close()
    sql, name = FOR_WRITERS[kind]
    poison(str(scene.database), sql)
    before = everything(scene.database)
    house.observe()
    assert examine(scene.path) == 22
    outcomes = house.sexton.apply(reaping, "reaped")
    assert {each.result for each in outcomes} == {Result.SKIPPED}
    assert all(f"'{name}'" in each.detail for each in outcomes)
    with pytest.raises(HomeRefused) as refused:
        house.sexton.apply(collecting, "collected")
    assert f"'{name}'" in str(refused.value)
    assert everything(scene.database) == before


@pytest.mark.parametrize("kind", FOR_WRITERS)
def test_nothing_is_undone_in_a_poisoned_home(house: House, scene: HermesScene, kind: str) -> None:
    house.apply(house.plan(), "reaped")
    house.apply(house.garbage(), "collected")
    scene.close()
    sql, _ = FOR_WRITERS[kind]
    poison(str(scene.database), sql)
    before = everything(scene.database)
    for receipt in ("reaped", "collected"):
        with pytest.raises(HomeRefused):
            house.sexton.undo(receipt)
    assert everything(scene.database) == before


@pytest.mark.parametrize("kind", UNREADABLE)
def test_what_would_be_computed_is_not_read(house: House, scene: HermesScene, kind: str) -> None:
    plan = house.plan()
    scene.close()
    sql, name = UNREADABLE[kind]
    poison(str(scene.database), sql)
    before = everything(scene.database)
    for act in (house.observe, lambda: examine(scene.path)):
        with pytest.raises(HomeUnknown, match=name):
            act()
    assert "done" not in house.apply(plan).values()
    assert everything(scene.database) == before


def test_an_endless_view_in_place_of_the_executions_of_jobs_is_not_read(
    house: House, scene: HermesScene
) -> None:
    (scene.path / "cron").mkdir()
    poison(
        str(scene.path / "cron" / "executions.db"),
        "CREATE VIEW executions AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        " SELECT i AS job_id, 1 AS pid, 1 AS process_started_at, '' AS claimed_at,"
        " 'running' AS status FROM n",
    )
    house.observe()
    assert "left" in house.sexton.estate().owners("work")


@pytest.mark.parametrize(
    "body",
    [
        (
            "INSERT INTO messages_fts (rowid, content, tool_name) "
            "VALUES (new.id, new.content, new.tool_name); DELETE FROM messages WHERE 0"
        ),
        "INSERT INTO messages_fts_trigram (rowid, content) VALUES (new.id, new.content)",
        "INSERT INTO messages_fts (rowid, content) VALUES (new.id, load_extension('x'))",
        "INSERT INTO messages_fts (rowid, content) VALUES (new.id, '') ON CONFLICT DO NOTHING",
        "DELETE FROM messages_fts WHERE rowid = old.id OR 1",
        "DELETE FROM messages_fts",
        "UPDATE messages SET content = ''",
    ],
)
def test_a_trigger_of_the_unpublished_schema_may_write_to_its_own_index_only(
    tmp_path: Path, body: str
) -> None:
    home = Home(tmp_path / "home")
    home.session("one")
    house = House(f"sqlite:///{tmp_path / 'ledger.db'}", home.path)
    plan = house.garbage()
    event = "DELETE" if "old" in body or "new" not in body else "INSERT"
    name = f"messages_fts_{event.lower()}"
    home.sql(f"DROP TRIGGER {name}")
    home.sql(f"CREATE TRIGGER {name} AFTER {event} ON messages BEGIN {body}; END")
    with pytest.raises(HomeRefused, match=f"'{name}'"):
        house.sexton.apply(plan, "receipt")
    assert home.sql("SELECT COUNT(*) FROM messages") == [(2,)]
    house.sexton.close()


def test_what_hermes_itself_adds_later_keeps_nobody_from_changes(
    house: House, scene: HermesScene
) -> None:
    """Columns come by ALTER TABLE, indexes are made again, the tables of topics come on demand."""
    scene.ask("apply_telegram_topic_migration")
    scene.sql('ALTER TABLE "sessions" ADD COLUMN "later" INTEGER NOT NULL DEFAULT 0')
    scene.sql("CREATE INDEX later ON messages (session_id, id DESC) "
              "WHERE role = 'assistant' AND (active = 1 OR tool_calls IS NOT NULL)")  # fmt: skip
    scene.sql("CREATE INDEX latest ON sessions (COALESCE(ended_at, started_at) DESC)")
    scene.sql("ANALYZE")
    done = house.apply(house.plan()) | house.apply(house.garbage(), "second")
    assert set(done.values()) == {"done"}


def test_rows_that_change_beside_those_that_were_meant_take_the_whole_step_back(
    house: House, scene: HermesScene
) -> None:
    """Whatever a check of the schema may overlook, the rows themselves are counted."""
    before = everything(scene.database)
    beside = "DELETE FROM messages WHERE session_id = 'bystander'"
    with (
        pytest.raises(HomeRefused) as refused,
        changing(scene.database, house.clock) as hand,
    ):
        hand.step(lambda db: (db.change("UPDATE sessions SET title = 'x' WHERE id = 'left'", {}),
                              db.execute(beside)))  # fmt: skip
    golden("homes", "refused: more rows than were meant", str(refused.value))
    assert everything(scene.database) == before


def test_a_database_that_is_no_regular_file_is_refused(
    house: House, scene: HermesScene, tmp_path: Path
) -> None:
    plan = house.plan()
    scene.close()
    home = HermesHome(scene.path, "work", clock=ManualClock())
    scene.database.rename(tmp_path / "aside.db")
    os.mkfifo(scene.database)
    with pytest.raises(HomeNotFound):
        HermesHome(scene.path, "work", clock=ManualClock())
    with pytest.raises(HomeUnreadable):
        home.figures()
    assert "done" not in house.apply(plan).values()
    with (
        pytest.raises(HomeRefused) as refused,
        changing(scene.database, house.clock),
    ):
        pass
    golden("homes", "refused: no regular file", str(refused.value))


def test_a_database_that_is_replaced_after_the_look_is_not_changed(
    house: House, scene: HermesScene, tmp_path: Path
) -> None:
    scene.close()
    other = tmp_path / "other.db"
    other.write_bytes(scene.database.read_bytes())

    def replace_and_change(db: Writer) -> int:
        os.replace(other, scene.database)
        return db.change("UPDATE sessions SET title = 'x' WHERE id = 'left'", {})

    with (
        pytest.raises(HomeRefused) as refused,
        changing(scene.database, house.clock) as hand,
    ):
        hand.step(replace_and_change)
    golden("homes", "refused: replaced before the step", str(refused.value))
    seen = scene.database.stat().st_ino
    os.replace(_copy(scene.database, other), scene.database)
    with (
        pytest.raises(HomeRefused) as refused,
        changing(scene.database, house.clock, inode=seen),
    ):
        pass
    golden("homes", "refused: replaced before it was opened", str(refused.value))


def _copy(file: Path, to: Path) -> Path:
    to.write_bytes(file.read_bytes())
    return to
