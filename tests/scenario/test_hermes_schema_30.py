"""A home of the shape that newer versions of Hermes have is acted on by what it has.

Made by hand: no release of Hermes writes it yet.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from sexton.errors import HomeRefused
from sexton.liveness.evidence import Verdict
from tests.scenario.hermes_house import DAY, House, reasons
from tests.scenario.test_hermes_finalizers import keeping, noted
from tests.unit.hermes_holding import holding, ticks

TALK = "agent:main:telegram:dm:7"

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
    CREATE TABLE session_model_usage (
        session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE, model TEXT, mark BLOB,
        PRIMARY KEY (session_id, model));
    CREATE TABLE state_meta (key TEXT PRIMARY KEY, value TEXT);
    CREATE TABLE gateway_routing (scope TEXT, session_key TEXT, entry_json TEXT, updated_at REAL);
    CREATE TABLE compression_locks (
        session_id TEXT PRIMARY KEY, holder TEXT, acquired_at REAL, expires_at REAL);
    CREATE TABLE session_turn_leases (
        conversation_id TEXT PRIMARY KEY, holder TEXT, acquired_at REAL, expires_at REAL);
    CREATE TABLE gateway_heartbeats (
        backend_id TEXT PRIMARY KEY, pid INTEGER NOT NULL, started_at REAL NOT NULL,
        last_heartbeat REAL NOT NULL, profile TEXT NOT NULL DEFAULT '', host TEXT NOT NULL);
    CREATE TABLE conversation_generations (
        source TEXT NOT NULL, session_key TEXT NOT NULL, generation INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (source, session_key));
    CREATE VIEW messages_fts_trigram_src AS
        SELECT m.id, m.content, m.tool_name FROM messages AS m
        JOIN sessions AS s ON s.id = m.session_id WHERE m.role <> 'tool' AND s.source <> 'cron';
"""
INDEXED = """({0}.id > COALESCE((SELECT CAST(value AS INTEGER) FROM state_meta
                                  WHERE key = 'fts_rebuild_high_water'), -1))"""
"""As the newer triggers ask: what is still to be indexed anew is not in the index yet."""
OF_PEOPLE = """{0}.role <> 'tool' AND EXISTS (
    SELECT 1 FROM sessions WHERE id = {0}.session_id AND source <> 'cron')"""
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
        which, gone = INDEXED.format("new"), INDEXED.format("old")
        values = {"which": which, "gone": gone, "content": "messages", "more": ""}
        db.execute(INDEX.format(name="messages_fts", **values))
        values = {
            "which": f"{OF_PEOPLE.format('new')} AND {which}",
            "gone": f"{OF_PEOPLE.format('old')} AND {gone}",
            "content": "messages_fts_trigram_src",
            "more": ", tokenize = 'trigram'",
        }
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
        tables = ("sessions", "messages", "session_model_usage", "system_prompts")
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
    home.session("run", source="cron")
    home.sql("INSERT INTO session_model_usage VALUES ('one', 'm', x'00ff')")
    home.sql("INSERT INTO conversation_generations VALUES ('cli', 'one', 3)")
    home.session("pinned", pinned=1)
    home.session("lately", last_activity_at=time.time())
    before, found = home.everything(), home.found("says")
    plan = house.garbage()
    assert reasons(plan) == {"one": "trivial", "run": "trivial"}
    assert set(house.apply(plan).values()) == {"done"}
    assert [row[0] for row in home.sql("SELECT id FROM sessions ORDER BY id")] == [
        "lately",
        "pinned",
    ]
    assert home.found("one") == [[], []]
    assert home.sql("SELECT hash FROM system_prompts") == [("h",)], (
        "nobody's but Hermes's to remove"
    )
    assert home.sql("SELECT generation FROM conversation_generations") == [(3,)], (
        "what counts conversations is never counted anew"
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


def test_a_turn_keeps_all_of_its_conversation(home: Home, house: House) -> None:
    """Its lease names the first session of a chain; what is written to is the last one."""
    home.session("first", end_reason="compression")
    home.session("second", parent_session_id="first", end_reason="compression")
    home.session("tip", parent_session_id="second", ended_at=None)
    home.session("other", ended_at=None)
    now = time.time()
    home.sql("INSERT INTO session_turn_leases VALUES ('first', 'pid=1:turn=x', ?, ?)", now, now + 9)
    assert house.garbage().actions == ()
    assert house.swept() == {"other": "done reaped:owner_gone"}
    home.sql("DELETE FROM session_turn_leases")
    assert house.swept() == {"tip": "done reaped:owner_gone"}


@pytest.mark.parametrize(
    ("beat", "found"),
    [
        ({}, Verdict.UNKNOWN),
        ({"host": ""}, Verdict.UNKNOWN),
        ({"pid": 2**22 + 1}, Verdict.DEAD),
        ({"started_at": OLD}, Verdict.DEAD),
        ({"host": "elsewhere"}, Verdict.UNKNOWN),
        ({"host": "elsewhere", "last_heartbeat": OLD}, Verdict.DEAD),
    ],
    ids=["ours", "of no host", "gone", "its pid is another's", "far", "far and silent"],
)
def test_a_backend_that_beats_may_own_what_no_terminal_owns(
    home: Home, house: House, beat: dict[str, Any], found: Verdict
) -> None:
    """It need not have the database open while nobody asks it anything."""
    for source in ("tui", "cli"):
        home.session(source, source=source, ended_at=None)
    now = time.time()
    row = {"backend_id": "b", "pid": os.getpid(), "started_at": now, "last_heartbeat": now}
    row |= {"host": socket.gethostname()} | beat
    home.sql(
        f"INSERT INTO gateway_heartbeats ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
        *row.values(),
    )
    house.observe()
    owners = house.sexton.estate().owners("work")
    assert {id: each.verdict for id, each in owners.items()} == {"tui": found, "cli": Verdict.DEAD}


def test_a_session_that_shows_activity_may_be_of_a_terminal_that_runs(
    home: Home, house: House
) -> None:
    """Newer homes note it while a turn writes nothing."""
    home.session("silent", ended_at=None)
    home.session("active", ended_at=None, last_activity_at=time.time())
    with holding(home.path / "state.db", "hermes"):
        house.observe()
        owners = house.sexton.estate().owners("work")
    assert {id: each.verdict for id, each in owners.items()} == {
        "silent": Verdict.SUSPECT, "active": Verdict.UNKNOWN,
    }  # fmt: skip


def test_what_its_gateway_never_resets_is_reset_and_finalized_from_outside(
    home: Home, tmp_path: Path
) -> None:
    """The newer Hermes has no clock any more: it is not waited for while its gateway runs."""
    (home.path / "config.yaml").write_text("session_reset: {mode: idle, idle_minutes: 60}")
    home.session("talk", source="telegram", session_key=TALK, ended_at=None, said=3)
    home.session("new", source="telegram", session_key=f"{TALK}8", started_at=time.time(),
                 ended_at=None, said=0, last_activity_at=time.time())  # fmt: skip
    notes, url = tmp_path / "notes.jsonl", f"sqlite:///{tmp_path / 'mine.db'}"
    database = home.path / "state.db"
    with holding(database, "hermes", ["gateway", "run"]) as gateway:
        record = {"pid": gateway.pid, "kind": "hermes-gateway", "start_time": ticks(gateway.pid)}
        (home.path / "gateway.pid").write_text(json.dumps(record))
        with keeping(url, home.path, notes, act=True) as house:
            for _ in range(3):
                house.sweep()
    assert home.sql("SELECT id, end_reason FROM sessions ORDER BY id") == [
        ("new", None), ("talk", "session_reset"),
    ]  # fmt: skip
    [note] = noted(notes)
    assert note["end_reason"] == "idle"
    assert [each["content"] for each in note["messages"]] == [f"talk says {n}" for n in range(3)]


def test_a_home_that_is_only_half_up_to_date_is_not_changed(home: Home, house: House) -> None:
    home.session("one")
    plan = house.garbage()
    home.sql("ALTER TABLE sessions DROP COLUMN pinned")
    with pytest.raises(HomeRefused, match=r"sessions\.pinned"):
        house.apply(plan)
    assert home.sql("SELECT COUNT(*) FROM messages") == [(2,)]


def test_an_index_that_needs_a_tokenizer_of_its_own_is_not_touched(
    home: Home, house: House
) -> None:
    home.session("one")
    home.sql("CREATE TRIGGER messages_fts_cjk_delete AFTER DELETE ON messages BEGIN SELECT 1; END")
    with pytest.raises(HomeRefused, match="messages_fts_cjk_delete"):
        house.apply(house.garbage())
    assert home.sql("SELECT COUNT(*) FROM messages") == [(2,)]
