"""Sessions leave a real Hermes home through the vault, and come back as they were."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sexton.core.clock import SystemClock
from sexton.core.plan import TrashSession
from sexton.core.session import State
from sexton.errors import HomeOutgrown, HomeRefused, SessionNotFound, VaultOutdated
from sexton.homes.hermes.acting import LONG_PATIENCE, PAGES_IN_LOG
from sexton.retention.home_storage import Removed
from sexton.retention.removal_context import Means
from sexton.retention.remove import put_away
from tests.golden import golden
from tests.scenario.hermes_home import Hermes, HermesScene
from tests.scenario.hermes_house import DAY, House, is_sound, make_older, many, reasons

OLD = 30 * DAY


@pytest.fixture
def house(tmp_path: Path, scene: HermesScene) -> Iterator[House]:
    opened = House(f"sqlite:///{tmp_path / 'ledger.db'}", scene.path)
    yield opened
    opened.sexton.close()


def everything(scene: HermesScene) -> dict[str, list[list[Any]]]:
    """All that Hermes has, by table, and the full-text indexes with it."""
    tables = ("sessions", "messages", "session_model_usage", "messages_fts", "messages_fts_trigram")
    return {
        table: sorted(scene.sql(f"SELECT rowid, * FROM {table}"))
        if table != "sessions"
        else sorted(scene.sql("SELECT * FROM sessions"))
        for table in tables
    }


def small(scene: HermesScene, id: str, source: str = "cli", words: int = 2, **facts: Any) -> None:
    """An old session with few messages that has ended."""
    scene.start(id, source, **facts)
    for number in range(words):
        scene.say(id, f"word {number} of {id}")
    scene.end(id)


def test_garbage_goes_with_its_files_and_comes_back_exactly(
    house: House, scene: HermesScene
) -> None:
    small(scene, "one")
    small(scene, "two/with*odd\nname")
    small(scene, "empty", words=0)
    scene.ask("set_session_title", "one", "A title")
    scene.ask("update_token_counts", "one", input_tokens=5, output_tokens=3, model="m")
    scene.sql("UPDATE session_model_usage SET first_seen = 1e9, last_seen = 1e9")
    scene.start("kept")
    for number in range(9):
        scene.say("kept", f"word {number}")
    scene.end("kept")
    make_older(scene, OLD)
    folder = scene.path / "sessions"
    folder.mkdir(exist_ok=True)
    names = ("session_one.json", "request_dump_one_20260101_120000_000001.json", "one.jsonl")
    for name in (*names, "session_kept.json", "sessions.json"):
        (folder / name).write_text(name)
    before = everything(scene)
    plan = house.garbage()
    assert reasons(plan) == {"one": "trivial", "two/with*odd\nname": "trivial", "empty": "empty"}
    assert set(house.apply(plan).values()) == {"done"}
    assert [row[0] for row in everything(scene)["sessions"]] == ["kept"]
    assert len(everything(scene)["messages_fts_trigram"]) == 9
    assert sorted(file.name for file in folder.iterdir()) == ["session_kept.json", "sessions.json"]
    assert house.session("one").state is State.TRASHED
    house.observe()
    assert house.session("one").state is State.TRASHED, "its row here is what is left of it"
    assert is_sound(scene.database)
    (restored,) = [each for each in house.sexton.undo("receipt") if each.sessions == 3]
    assert (restored.left, restored.files) == (0, 3)
    assert everything(scene) == before
    assert {file.name for file in folder.iterdir()} >= set(names)
    assert house.session("one").state is State.ENDED
    house.observe()
    assert reasons(house.garbage()).keys() == reasons(plan).keys()
    assert is_sound(scene.database)


def test_lies_are_caught(house: House, scene: HermesScene) -> None:
    """Neither what a row says of itself nor who its parent is makes a session garbage."""
    many(scene, "compacted", 1, 600)
    scene.sql("UPDATE sessions SET message_count = 3 WHERE id = 'compacted0'")
    small(scene, "parent", words=0)
    many(scene, "delegate", 1, 500)
    scene.sql(
        "UPDATE sessions SET source = 'subagent', parent_session_id = 'parent', "
        "model_config = '{\"_delegate_from\": \"parent\"}' WHERE id = 'delegate0'"
    )
    small(scene, "archived")
    scene.ask("set_session_archived", "archived", True)
    small(scene, "root")
    scene.sql("UPDATE sessions SET end_reason = 'compression' WHERE id = 'root'")
    small(scene, "tip", words=40, parent_session_id="root")
    small(scene, "first", words=1)
    scene.sql("UPDATE sessions SET end_reason = 'compression' WHERE id = 'first'")
    small(scene, "last", words=1, parent_session_id="first")
    make_older(scene, OLD)
    before = everything(scene)
    plan = house.garbage()
    assert reasons(plan).keys() == {"parent", "first", "last"}
    assert set(house.apply(plan).values()) == {"done"}
    left = {row[0] for row in everything(scene)["sessions"]}
    assert left == {"compacted0", "delegate0", "archived", "root", "tip"}
    assert scene.sql("SELECT parent_session_id FROM sessions WHERE id = 'delegate0'") == [[None]]
    assert scene.sql("SELECT parent_session_id FROM sessions WHERE id = 'tip'") == [["root"]]
    house.sexton.undo("receipt")
    assert everything(scene) == before, "also who is whose parent"


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE id = 'one'",
        "UPDATE sessions SET archived = 1 WHERE id = 'one'",
        "UPDATE sessions SET handoff_state = 'pending' WHERE id = 'one'",
        "INSERT INTO messages (session_id, role, timestamp) VALUES ('one', 'user', 1)",
        "INSERT INTO compression_locks VALUES ('one', '1:1:1', 1, 9e9)",
        "INSERT INTO gateway_routing VALUES ('', 'key', '{\"session_id\": \"one\"}', 1)",
        "DELETE FROM messages WHERE session_id = 'one'; DELETE FROM sessions WHERE id = 'one'",
    ],
)
def test_what_changed_since_the_plan_stays(house: House, scene: HermesScene, change: str) -> None:
    small(scene, "one")
    small(scene, "two")
    make_older(scene, OLD)
    plan = house.garbage()
    for each in change.split("; "):
        scene.sql(each)
    before = scene.sql("SELECT * FROM messages WHERE session_id = 'one'")
    assert house.apply(plan) == {"one": "skipped", "two": "done"}
    assert scene.sql("SELECT * FROM messages WHERE session_id = 'one'") == before
    gone = "DELETE" in change  # what Hermes has deleted is known to be gone at once
    with pytest.raises(SessionNotFound) if gone else nullcontext():
        assert house.session("one").state is State.ENDED


def test_what_changes_between_the_copy_and_the_removal_stays(
    house: House, scene: HermesScene
) -> None:
    for id in ("one", "two"):
        small(scene, id)
    make_older(scene, OLD)
    plan = house.garbage()
    actions = [each for each in plan.actions if isinstance(each, TrashSession)]
    means = house.sexton.estate().removing
    assert means is not None

    def resumed() -> bool:
        """Somebody takes a session up in the very moment before it would leave."""
        scene.sql("UPDATE sessions SET ended_at = NULL WHERE id = 'one'")
        return True

    ((_, done),) = put_away(means, [actions], "receipt", resumed, means.clock.now())
    assert done is not None
    assert {each.seen.id for each in actions if each.seen.ref in done.gone} == {"two"}
    assert house.session("one").state is State.ENDED
    assert scene.sql("SELECT COUNT(*) FROM messages WHERE session_id = 'one'") == [[2]]


def test_a_long_conversation_goes_bit_by_bit_and_comes_back_whole(
    house: House, scene: HermesScene
) -> None:
    many(scene, "talk", 1, 1500)
    make_older(scene, OLD)
    before = everything(scene)
    plan = house.garbage(trivial_max=5000)
    assert house.apply(plan) == {"talk0": "done"}
    assert everything(scene)["sessions"] == []
    house.sexton.undo("receipt")
    assert everything(scene) == before
    assert is_sound(scene.database)


@pytest.mark.parametrize("at_rest", [True, False])
def test_the_log_is_folded_in_only_while_nobody_else_is_there(
    house: House, scene: HermesScene, at_rest: bool
) -> None:
    for number in range(8):
        small(scene, f"old{number}", words=0)
        scene.sql(
            "INSERT INTO messages (session_id, role, content, timestamp) "
            "SELECT ?, 'user', hex(randomblob(10000)), 1.7e9 FROM json_each('[1,2,3,4,5]')",
            f"old{number}",
        )
    make_older(scene, OLD)
    scene.close()
    if not at_rest:
        scene.ask("open")
    plan = house.garbage()
    changed = scene.database.stat().st_mtime_ns
    assert set(house.apply(plan).values()) == {"done"}
    assert (scene.database.stat().st_mtime_ns != changed) == at_rest
    changed = scene.database.stat().st_mtime_ns
    house.sexton.undo("receipt")
    assert (scene.database.stat().st_mtime_ns != changed) == at_rest


def test_the_log_stays_small_however_many_come_back(house: House, scene: HermesScene) -> None:
    many(scene, "old", 400, 3)
    scene.sql("UPDATE sessions SET started_at = started_at - 3e6, ended_at = ended_at - 3e6")
    scene.sql("UPDATE messages SET timestamp = timestamp - 3e6")
    scene.close()
    assert set(house.apply(house.garbage()).values()) == {"done"}
    house.sexton.undo("receipt")
    log = scene.database.with_name(scene.database.name + "-wal")
    page = 4096
    assert log.stat().st_size < 2 * PAGES_IN_LOG * page


def test_a_home_that_is_brought_up_to_date_while_sessions_come_back_is_left_alone(
    house: House, scene: HermesScene
) -> None:
    means = house.sexton.estate().removing
    assert means is not None
    refused = pytest.raises(HomeRefused, match="'strange'")
    with refused, means.rows["work"].returning() as put_back:
        scene.sql("CREATE TRIGGER strange AFTER INSERT ON sessions BEGIN SELECT 1; END")
        put_back({"session": {"id": "one"}}, [])
    assert scene.sql("SELECT * FROM sessions") == []


def test_a_home_that_is_written_to_for_long_is_waited_for_and_then_left_alone(
    house: House, scene: HermesScene
) -> None:
    """What can wait waits for longer; nothing is lost if even that was in vain."""
    small(scene, "one")
    scene.start("left")
    make_older(scene, OLD)
    reap, garbage = house.plan(), house.garbage()
    before = everything(scene)
    scene.sql("BEGIN IMMEDIATE")
    begun = house.clock.monotonic()
    assert house.apply(reap)["left"] == "skipped"
    assert house.clock.monotonic() - begun < LONG_PATIENCE
    [told] = house.sexton.apply(garbage, "receipt", observed=True)
    assert str(told.result) == "skipped"
    golden("homes", "refused: busy for long", told.detail)
    scene.sql("ROLLBACK")
    house.sexton.sweep()
    assert everything(scene) == before, "nothing was begun that somebody completes"
    assert house.apply(house.garbage(), "later") == {"one": "done"}
    house.sexton.undo("later")
    assert everything(scene) == before


def test_whoever_dies_in_between_leaves_what_the_next_one_completes(
    house: House, scene: HermesScene
) -> None:
    for id in ("one", "two", "three"):
        small(scene, id)
    make_older(scene, OLD)
    before = everything(scene)
    plan = house.garbage()
    _die_before_leaving(house, plan.actions)
    assert house.session("one").state is State.TRASHED
    assert everything(scene) == before, "the ledger has let go, the home has not"
    scene.sql("UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE id = 'two'")
    house.observe()
    assert house.session("two").state is State.TRASHED, "not before somebody has completed it"
    house.sexton.sweep()
    scene.say("two", "I am back")
    house.observe()
    states = {id: house.session(id).state for id in ("one", "two", "three")}
    assert states == {"one": State.TRASHED, "two": State.OPEN, "three": State.TRASHED}
    assert [row[0] for row in everything(scene)["sessions"]] == ["two"]
    house.sexton.undo("receipt")
    after = everything(scene)
    assert [row[0] for row in after["sessions"]] == ["one", "three", "two"]
    assert after["messages"][:-1] == before["messages"]


def _die_before_leaving(house: House, actions: Any) -> None:
    """Go as far as the ledger's part, and no further."""

    class Gone(Exception):
        pass

    class Dying:
        def __init__(self, rows: Any) -> None:
            self._rows = rows

        def __getattr__(self, name: str) -> Any:
            return getattr(self._rows, name)

        def remove(self, *_: Any, **__: Any) -> Removed:
            raise Gone

    means = house.sexton.estate().removing
    assert isinstance(means, Means)
    dying = replace(means, rows={"work": Dying(means.rows["work"])})
    with pytest.raises(Gone):
        list(put_away(dying, [list(actions)], "receipt", lambda: True, means.clock.now()))


def test_two_ledgers_on_one_home_do_not_remove_a_session_twice(
    house: House, scene: HermesScene, tmp_path: Path
) -> None:
    small(scene, "one")
    small(scene, "two")
    make_older(scene, OLD)
    other = House(f"sqlite:///{tmp_path / 'other.db'}", scene.path)
    plans = house.garbage(), other.garbage()
    assert house.apply(plans[0]) == {"one": "done", "two": "done"}
    assert other.apply(plans[1]) == {"one": "skipped", "two": "skipped"}
    other.observe()
    house.sexton.undo("receipt")
    assert len(everything(scene)["messages"]) == 4
    other.observe()
    assert other.session("one").state is State.ENDED
    other.sexton.close()


def test_a_home_of_another_schema_is_refused_before_anything_is_copied(
    house: House, scene: HermesScene
) -> None:
    small(scene, "one")
    make_older(scene, OLD)
    scene.sql("UPDATE schema_version SET version = 21")
    plan = house.garbage()
    with pytest.raises(HomeOutgrown):
        house.apply(plan)
    assert house.session("one").state is State.ENDED
    assert house.ledger.vault.of_receipt("receipt") == []


def test_into_a_home_whose_schema_has_changed_nothing_is_brought_back_but_it_is_given_out(
    house: House, scene: HermesScene, tmp_path: Path
) -> None:
    scene.sql("ALTER TABLE messages ADD COLUMN mood TEXT")
    small(scene, "one")
    scene.sql("UPDATE messages SET mood = 'curious'")
    make_older(scene, OLD)
    assert house.apply(house.garbage()) == {"one": "done"}
    scene.sql("ALTER TABLE messages DROP COLUMN mood")
    with pytest.raises(VaultOutdated) as refused:
        house.sexton.undo("receipt")
    told = re.sub(r"\S*exported\S*", "<exported>", str(refused.value))
    golden("undo", "a column is not there any more", told)
    [exported] = tmp_path.rglob("exported.*")
    assert "curious" in exported.read_text()
    assert exported.stat().st_mode & 0o777 == 0o600
    assert scene.sql("SELECT * FROM sessions") == []
    scene.sql("UPDATE schema_version SET version = 21")
    with pytest.raises(VaultOutdated) as refused:
        house.sexton.undo("receipt")
    told = re.sub(r"\S*exported\S*", "<exported>", str(refused.value))
    golden("undo", "the home has an older schema now", told)
    scene.sql("UPDATE schema_version SET version = 22")
    scene.sql("ALTER TABLE messages ADD COLUMN mood TEXT")
    (restored,) = house.sexton.undo("receipt")
    assert (restored.sessions, restored.left) == (1, 0)
    assert scene.sql("SELECT DISTINCT mood FROM messages") == [["curious"]]
    assert list(tmp_path.rglob("exported.*")) == []  # what was said is in one place again


def test_another_session_in_the_place_of_a_removed_one_is_never_written_over(
    house: House, scene: HermesScene
) -> None:
    small(scene, "one")
    make_older(scene, OLD)
    assert house.apply(house.garbage()) == {"one": "done"}
    scene.start("one")
    scene.say("one", "somebody else")
    (restored,) = house.sexton.undo("receipt")
    assert (restored.sessions, restored.left) == (0, 1)
    assert [row[0] for row in scene.sql("SELECT content FROM messages")] == ["somebody else"]


def test_a_title_that_was_taken_meanwhile_is_left_to_whoever_has_it(
    house: House, scene: HermesScene
) -> None:
    small(scene, "one")
    scene.ask("set_session_title", "one", "Plans")
    make_older(scene, OLD)
    assert house.apply(house.garbage()) == {"one": "done"}
    scene.start("two")
    scene.ask("set_session_title", "two", "Plans")
    house.sexton.undo("receipt")
    titles = dict(scene.sql("SELECT id, title FROM sessions"))
    assert titles == {"one": None, "two": "Plans"}


def test_hermes_writes_on_while_sessions_are_removed(
    hermes_python: Path, scene: HermesScene, tmp_path: Path
) -> None:
    """Another process of Hermes writes to the same home all the time; no write of it fails."""
    house = House(f"sqlite:///{tmp_path / 'ledger.db'}", scene.path, clock=SystemClock())
    many(scene, "old", 60, 20)
    make_older(scene, OLD)
    plan = house.garbage(trivial_max=50)
    assert len(plan.actions) == 60
    with Hermes(hermes_python, scene.path) as other:
        other.ask(scene.path, "open")
        other.send(scene.path, "write_many", "new", 20, 10)
        assert set(house.apply(plan).values()) == {"done"}
        assert other.answer() == 200
    counts = scene.sql("SELECT COUNT(*) FROM sessions UNION ALL SELECT COUNT(*) FROM messages")
    assert counts == [[20], [200]]
    assert is_sound(scene.database)
    house.sexton.close()
