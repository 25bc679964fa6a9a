"""A real Hermes writes, and the home shows what is really there."""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sexton.core.session import Relation, State
from sexton.homes.hermes.home import PAGE, HermesHome
from sexton.rules.rulebook import decode
from sexton.testing import ManualClock
from tests.contract.home_contract import HomeContract, Notebook, Scene
from tests.scenario.hermes_home import Hermes, HermesScene


class TestHermesHome(HomeContract):
    """The contract of all homes, with a Hermes that has its database open."""

    @pytest.fixture
    def scene(self, hermes: Hermes, tmp_path: Path) -> Scene:
        return HermesScene(hermes, tmp_path / "home")


@pytest.fixture
def book() -> Notebook:
    return Notebook()


def test_compacted_messages_count_although_hermes_no_longer_counts_them(
    scene: HermesScene, book: Notebook
) -> None:
    scene.start("long")
    for turn in range(30):
        scene.say("long", f"message {turn}")
    scene.ask("archive_and_compact", "long", [{"role": "user", "content": "all of it"}])
    assert scene.sql("SELECT message_count FROM sessions") == [[1]]
    book.look(scene.home)
    assert book.sessions["long"].message_count == 31
    assert book.sessions["long"].preview == "message 0"


def test_source_key_chat_type_and_job_are_seen(scene: HermesScene, book: Notebook) -> None:
    scene.start("chat", "telegram", session_key="agent:main:telegram:dm:7", chat_type="dm")
    scene.start("cron_daily_news_20260101_120000", "cron")
    book.look(scene.home)
    chat = book.sessions["chat"]
    assert (chat.source, chat.key, chat.chat_type) == ("telegram", "agent:main:telegram:dm:7", "dm")
    assert book.sessions["cron_daily_news_20260101_120000"].job == "daily_news"
    assert chat.job is None


def test_the_four_ways_to_come_from_a_parent_are_told_apart(
    scene: HermesScene, book: Notebook
) -> None:
    def child(id: str, parent: str, source: str = "cli", **named: object) -> None:
        scene.start(id, source, parent_session_id=parent, **named)

    for parent, reason in (("full", "compression"), ("left", "branched"), ("busy", "")):
        scene.start(parent)
        if reason:
            scene.ask("end_session", parent, reason)
    child("continued", "full")
    child("branched", "busy", model_config={"_branched_from": "busy"})
    child("branched long ago", "left")
    child("delegate", "busy", "subagent", model_config={"_delegate_from": "busy"})
    child("delegate of the full", "full", "subagent", model_config={"_delegate_from": "full"})
    child("delegate that went on", "full", "subagent", model_config={"_delegate_from": "busy"})
    child("tool run", "full", "tool")
    child("untagged", "busy")
    book.look(scene.home)
    assert {id: session.relation for id, session in book.sessions.items() if session.parent} == {
        "continued": Relation.COMPRESSION,
        "branched": Relation.BRANCH,
        "branched long ago": Relation.BRANCH,
        "delegate": Relation.SUBAGENT,
        "delegate of the full": Relation.SUBAGENT,
        "delegate that went on": Relation.COMPRESSION,
        "tool run": Relation.FORK,
        "untagged": Relation.FORK,
    }
    assert book.sessions["continued"].parent == "full"


def test_spend_is_complete_also_beside_the_main_loop(scene: HermesScene, book: Notebook) -> None:
    scene.start("one")
    tokens = {"input_tokens": 100, "output_tokens": 50, "reasoning_tokens": 20}
    cached = {"cache_read_tokens": 30, "cache_write_tokens": 5}
    scene.ask("update_token_counts", "one", model="m", estimated_cost_usd=0.25, **tokens, **cached)
    scene.ask(
        "record_auxiliary_usage", "one", "compression", model="m", input_tokens=1_000,
        estimated_cost_usd=0.5,
    )  # fmt: skip
    book.look(scene.home)
    usage = book.sessions["one"].usage
    assert (usage.input_tokens, usage.cached_tokens) == (1_100, 35)
    assert (usage.output_tokens, usage.reasoning_tokens) == (30, 20)
    assert usage.cost_micros == 750_000


def test_the_actual_cost_counts_where_it_is_known(scene: HermesScene, book: Notebook) -> None:
    scene.start("one")
    scene.ask("update_token_counts", "one", estimated_cost_usd=0.25, actual_cost_usd=0.125)
    book.look(scene.home)
    assert book.sessions["one"].usage.cost_micros == 125_000


def test_spend_without_a_message_is_seen_and_is_activity(
    scene: HermesScene, book: Notebook
) -> None:
    scene.start("one")
    book.look(scene.home)
    before = book.sessions["one"].active_at
    scene.ask("update_token_counts", "one", model="m", input_tokens=7)
    book.look(scene.home)
    assert book.sessions["one"].usage.input_tokens == 7
    assert book.sessions["one"].active_at > before


def test_a_title_that_comes_after_its_message_is_seen(scene: HermesScene, book: Notebook) -> None:
    scene.start("one")
    book.look(scene.home)
    scene.say("one", "Good morning")
    book.look(scene.home)
    assert book.sessions["one"].title is None
    scene.ask("set_session_title", "one", "A greeting")
    book.look(scene.home)
    assert book.sessions["one"].title == "A greeting"


def test_an_archived_session_counts_as_pinned(scene: HermesScene, book: Notebook) -> None:
    scene.start("one")
    scene.start("two")
    assert scene.ask("set_session_archived", "one", True)
    book.look(scene.home)
    assert {id: session.pinned for id, session in book.sessions.items()} == {
        "one": True,
        "two": False,
    }


def test_only_a_user_in_an_attended_source_touches_a_session(
    scene: HermesScene, book: Notebook
) -> None:
    for id, source in (("person", "cli"), ("job", "cron"), ("helper", "subagent")):
        scene.start(id, source)
        scene.say(id, "Good morning")
    scene.start("silent")
    book.look(scene.home)
    assert [id for id, session in book.sessions.items() if session.human_touched] == ["person"]


def test_a_message_with_a_picture_shows_its_text(scene: HermesScene, book: Notebook) -> None:
    scene.start("one")
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 9_000}}
    words = {"type": "text", "text": 'what is "this"?\nsay it'}
    scene.ask("append_message", "one", "user", [words, picture])
    book.look(scene.home)
    assert book.sessions["one"].preview == 'what is "this"? say it'


def test_a_reopened_session_is_seen_open_with_its_next_message(
    scene: HermesScene, book: Notebook
) -> None:
    scene.start("one")
    scene.end("one")
    book.look(scene.home)
    scene.ask("reopen_session", "one")
    scene.say("one", "again")
    book.look(scene.home)
    assert book.sessions["one"].state is State.OPEN
    assert book.sessions["one"].end_reason is None


def test_once_a_day_everything_is_looked_at_again(scene: HermesScene, book: Notebook) -> None:
    clock = ManualClock(datetime.now(UTC))
    home = HermesHome(scene.path, "work", clock=clock)
    for id in ("one", "two"):
        scene.start(id)
        scene.end(id)
    book.look(home)
    scene.ask("reopen_session", "one")
    clock.advance(timedelta(hours=23))
    book.look(home)
    assert book.open_ids() == set()
    clock.advance(timedelta(hours=2))
    book.look(home)
    assert book.open_ids() == {"one"}


def test_a_home_restored_from_a_copy_is_looked_at_as_a_whole(
    scene: HermesScene, book: Notebook
) -> None:
    scene.start("one")
    scene.say("one", "Good morning")
    scene.close()
    copy = scene.path / "copy.db"
    shutil.copy(scene.database, copy)
    scene.say("one", "and good night")
    scene.start("two")
    scene.close()
    book.look(scene.home)
    os.replace(copy, scene.database)
    book.look(scene.home)
    assert book.all_ids() == {"one"}
    assert book.sessions["one"].message_count == 1


def test_messages_numbered_anew_in_the_same_file_are_seen(
    scene: HermesScene, book: Notebook
) -> None:
    scene.start("one")
    scene.start("two")
    for turn in range(5):
        scene.say("one", f"message {turn}")
    book.look(scene.home)
    scene.sql("DELETE FROM messages")
    scene.sql("UPDATE sqlite_sequence SET seq = 0 WHERE name = 'messages'")
    scene.say("two", "Good morning")
    book.look(scene.home)
    assert book.sessions["one"].message_count == 0
    assert book.sessions["two"].message_count == 1


def test_rows_numbered_anew_hide_neither_a_new_nor_a_removed_session(
    scene: HermesScene, book: Notebook
) -> None:
    for id in ("one", "two", "three", "four"):
        scene.start(id)
    book.look(scene.home)
    scene.remove("one")
    scene.ask("vacuum")
    scene.start("five")
    book.look(scene.home)
    assert book.all_ids() == {"two", "three", "four", "five"}


def test_a_big_home_comes_in_pages_and_nothing_of_it_is_open_between_them(
    scene: HermesScene, book: Notebook
) -> None:
    scene.sql(
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
        INSERT INTO sessions (id, source, started_at) SELECT 'many' || i, 'cli', 1.7e9 + i FROM n
        """,
        PAGE + 100,
    )
    parts = 0
    for part in scene.home.look(None, book):
        assert not _opened_below(scene.path)
        book.note(part)
        parts += 1
    assert parts == 2
    assert len(book.sessions) == PAGE + 100


def test_values_that_should_not_be_there_do_no_harm(scene: HermesScene, book: Notebook) -> None:
    scene.start("one", parent_session_id=None)
    scene.say("one", "Good morning")
    scene.sql(
        """
        UPDATE sessions SET source = '', started_at = 'yesterday', ended_at = 'never',
            end_reason = CAST(x'ff00fe' AS TEXT), input_tokens = 'many', output_tokens = -5,
            estimated_cost_usd = 9e999, model_config = '{broken', title = CAST(x'61ff62' AS TEXT),
            session_key = 'a' || char(0) || 'b', chat_type = x'80', archived = 'perhaps'
        """
    )
    scene.sql("UPDATE messages SET timestamp = 1.7e12, content = CAST(x'80' AS TEXT)")
    book.look(scene.home)
    session = book.sessions["one"]
    assert (session.source, session.key, session.chat_type) == ("unknown", None, None)
    assert session.state is State.ENDED
    assert session.title == "a\ufffdb"
    assert session.usage.tokens == session.usage.cost_micros == 0
    assert session.message_count == 1
    assert not session.pinned
    assert datetime.now(UTC) - session.active_at < timedelta(minutes=5)


def test_ids_that_no_ledger_can_store_are_passed_over(scene: HermesScene, book: Notebook) -> None:
    scene.start("one")
    for id in ("x'ff'", "CAST(x'ff' AS TEXT)", "NULL", "''", "'a' || char(0) || 'b'"):
        scene.sql(f"INSERT INTO sessions (id, source, started_at) VALUES ({id}, 'cli', 1.7e9)")
    scene.settle()
    book.look(scene.home)
    assert book.all_ids() == {"one"}
    assert book.look(scene.home) == []


def test_a_newer_home_tells_its_activity_and_its_pins(scene: HermesScene, book: Notebook) -> None:
    scene.sql("ALTER TABLE sessions ADD COLUMN last_activity_at REAL")
    scene.sql("ALTER TABLE sessions ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0")
    scene.sql("UPDATE schema_version SET version = 30")
    scene.start("one")
    scene.sql("UPDATE sessions SET pinned = 1")
    book.look(scene.home)
    later = datetime.now(UTC) + timedelta(minutes=3)
    scene.sql("UPDATE sessions SET last_activity_at = ?", later.timestamp())
    book.look(scene.home)
    assert book.sessions["one"].pinned
    assert book.sessions["one"].active_at == later


def test_an_older_home_with_fewer_columns_is_read_as_well(
    scene: HermesScene, book: Notebook
) -> None:
    scene.start("one")
    scene.say("one", "Good morning")
    scene.sql("DROP TABLE session_model_usage")
    scene.sql("DROP INDEX idx_sessions_session_key")
    for column in ("archived", "session_key", "model_config", "actual_cost_usd"):
        scene.sql(f"ALTER TABLE sessions DROP COLUMN {column}")
    scene.sql("UPDATE schema_version SET version = 9")
    book.look(scene.home)
    scene.say("one", "and good night")
    book.look(scene.home)
    assert book.sessions["one"].message_count == 2


@pytest.mark.parametrize(
    "config",
    [
        "",
        "session_reset: {mode: both, idle_minutes: 90, at_hour: 3}",
        "gateway: {session_reset: {mode: daily, at_hour: 0}}",
        "session_reset: both",
        "session_reset: {mode: idle, idle_minutes: 0}",
        "session_reset: {mode: idle",
    ],
)
def test_the_home_and_hermes_understand_a_configuration_alike(
    scene: HermesScene, config: str
) -> None:
    (scene.path / "config.yaml").write_text(config)
    rule, _ = decode(scene.home.rules()).reset_rules
    ours = [rule.policy.mode, rule.policy.idle_minutes, rule.policy.at_hour]
    assert ours == scene.ask("reset_policy")


def _opened_below(folder: Path) -> list[str]:
    descriptors = Path("/proc/self/fd")
    if not descriptors.exists():
        return []
    targets = [os.readlink(entry) for entry in descriptors.iterdir() if entry.is_symlink()]
    return [target for target in targets if target.startswith(str(folder))]
