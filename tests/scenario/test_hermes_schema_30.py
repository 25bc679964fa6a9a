"""A home of the shape that newer versions of Hermes have is acted on by what it has.

Made by hand: no release of Hermes writes it yet.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from sexton.errors import HomeRefused
from sexton.model.evidence import Verdict
from tests.scenario.hermes_house import DAY, House, reasons

OLD = time.time() - 30 * DAY.total_seconds()
TABLES = """
    CREATE TABLE schema_version (version INTEGER NOT NULL);
    INSERT INTO schema_version VALUES (30);
    CREATE TABLE system_prompts (hash TEXT PRIMARY KEY, words TEXT);
    CREATE TABLE sessions (
        id TEXT PRIMARY KEY, source TEXT NOT NULL, session_key TEXT, chat_type TEXT,
        model_config TEXT, parent_session_id TEXT REFERENCES sessions (id), title TEXT,
        started_at REAL NOT NULL, ended_at REAL, end_reason TEXT, message_count INTEGER DEFAULT 0,
        last_activity_at REAL, archived INTEGER NOT NULL DEFAULT 0,
        pinned INTEGER NOT NULL DEFAULT 0, hidden INTEGER NOT NULL DEFAULT 0,
        system_prompt_hash TEXT REFERENCES system_prompts (hash));
    CREATE UNIQUE INDEX one_title ON sessions (title) WHERE title IS NOT NULL;
    CREATE TABLE messages (
        id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions (id),
        role TEXT NOT NULL, content TEXT, tool_name TEXT, timestamp REAL NOT NULL,
        active INTEGER NOT NULL DEFAULT 1, display_kind TEXT);
    CREATE TABLE session_turn_leases (
        conversation_id TEXT PRIMARY KEY, holder TEXT, acquired_at REAL, expires_at REAL);
    CREATE TABLE conversation_generations (
        session_id TEXT REFERENCES sessions (id) ON DELETE CASCADE, generation INTEGER, mark BLOB);
    CREATE VIEW messages_fts_trigram_src AS SELECT * FROM messages WHERE role <> 'tool';
"""
INDEX = """
    CREATE VIRTUAL TABLE {name} USING fts5(
        content, tool_name, content = '{content}', content_rowid = 'id'{more});
    CREATE TRIGGER {name}_insert AFTER INSERT ON messages WHEN {which} BEGIN
        INSERT INTO {name} (rowid, content, tool_name) VALUES (new.id, new.content, new.tool_name);
    END;
    CREATE TRIGGER {name}_delete AFTER DELETE ON messages WHEN {gone} BEGIN
        INSERT INTO {name} ({name}, rowid, content, tool_name)
        VALUES ('delete', old.id, old.content, old.tool_name);
    END;
"""


class Home:
    """The home's database, written to as its agent would."""

    def __init__(self, path: Path) -> None:
        path.mkdir()
        self.path = path
        db = apsw.Connection(str(path / "state.db"))
        db.pragma("journal_mode", "wal")
        db.execute(TABLES)
        values = {"which": "1", "gone": "1", "content": "messages", "more": ""}
        db.execute(INDEX.format(name="messages_fts", **values))
        values = {"which": "new.role <> 'tool'", "gone": "old.role <> 'tool'"}
        values |= {"content": "messages_fts_trigram_src", "more": ", tokenize = 'trigram'"}
        db.execute(INDEX.format(name="messages_fts_trigram", **values))
        db.close()

    def sql(self, text: str, *values: Any) -> list[tuple[Any, ...]]:
        db = apsw.Connection(str(self.path / "state.db"))
        try:
            return db.execute(text, values).fetchall()
        finally:
            db.close()

    def session(self, id: str, said: int = 2, **facts: Any) -> None:
        row = {"id": id, "source": "cli", "started_at": OLD, "ended_at": OLD + 9} | facts
        marks = ", ".join("?" * len(row))
        self.sql(f"INSERT INTO sessions ({', '.join(row)}) VALUES ({marks})", *row.values())
        for number in range(said):
            role = "tool" if number % 2 else "user"
            self.sql(
                "INSERT INTO messages (session_id, role, content, tool_name, timestamp) "
                "VALUES (?, ?, ?, 'bash', ?)", id, role, f"{id} says {number}", OLD + number,
            )  # fmt: skip

    def everything(self) -> list[list[tuple[Any, ...]]]:
        tables = ("sessions", "messages", "conversation_generations", "system_prompts")
        return [self.sql(f"SELECT * FROM {table} ORDER BY 1") for table in tables]

    def found(self, words: str) -> list[list[tuple[Any, ...]]]:
        """Which messages the indexes lead to."""
        sql = "SELECT rowid FROM {0} WHERE {0} MATCH ? ORDER BY rowid"
        return [
            self.sql(sql.format(name), words) for name in ("messages_fts", "messages_fts_trigram")
        ]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def house(tmp_path: Path, home: Home) -> Iterator[House]:
    opened = House(f"sqlite:///{tmp_path / 'ledger.db'}", home.path)
    yield opened
    opened.sexton.close()


def test_what_leaves_it_comes_back_with_all_that_refers_to_it(home: Home, house: House) -> None:
    home.sql("INSERT INTO system_prompts VALUES ('h', 'be kind')")
    home.session("one", title="Plans", system_prompt_hash="h")
    home.sql("INSERT INTO conversation_generations VALUES ('one', 3, x'00ff')")
    home.session("pinned", pinned=1)
    home.session("lately", last_activity_at=time.time())
    before, found = home.everything(), home.found("says")
    plan = house.garbage()
    assert reasons(plan) == {"one": "trivial"}
    assert house.apply(plan) == {"one": "done"}
    assert [row[0] for row in home.sql("SELECT id FROM sessions ORDER BY id")] == [
        "lately",
        "pinned",
    ]
    assert home.found("one") == [[], []]
    assert home.sql("SELECT hash FROM system_prompts") == [("h",)], (
        "nobody's but Hermes's to remove"
    )
    house.sexton.undo("receipt")
    assert home.everything() == before
    assert home.found("says") == found
    assert home.sql("PRAGMA integrity_check") == [("ok",)]


def test_a_prompt_that_is_gone_meanwhile_does_not_keep_a_session_away(
    home: Home, house: House
) -> None:
    home.sql("INSERT INTO system_prompts VALUES ('h', 'be kind')")
    home.session("one", system_prompt_hash="h")
    assert house.apply(house.garbage()) == {"one": "done"}
    home.sql("DELETE FROM system_prompts")
    house.sexton.undo("receipt")
    assert home.sql("SELECT id, system_prompt_hash FROM sessions") == [("one", "h")]
    assert home.sql("SELECT * FROM system_prompts") == [("h", "be kind")]


def test_a_turn_that_runs_keeps_its_session_and_other_rows_are_reaped(
    home: Home, house: House
) -> None:
    for id in ("left", "busy", "late"):
        home.session(id, ended_at=None)
    now = time.time()
    for id, expires in (("busy", now + 60), ("late", now - 60)):
        home.sql("INSERT INTO session_turn_leases VALUES (?, 'x', ?, ?)", id, OLD, expires)
    house.observe()
    assert house.sexton.estate().owners("work")["busy"].verdict is Verdict.LIVE
    assert house.swept() == dict.fromkeys(("left", "late"), "done reaped:owner_gone")
    assert home.sql("SELECT id FROM sessions WHERE ended_at IS NULL") == [("busy",)]


def test_an_index_that_needs_a_tokenizer_of_its_own_is_not_touched(
    home: Home, house: House
) -> None:
    home.session("one")
    home.sql("CREATE TRIGGER messages_fts_cjk_delete AFTER DELETE ON messages BEGIN SELECT 1; END")
    with pytest.raises(HomeRefused, match="messages_fts_cjk_delete"):
        house.apply(house.garbage())
    assert home.sql("SELECT COUNT(*) FROM messages") == [(2,)]
