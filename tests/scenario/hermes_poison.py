"""Ways to poison the database of a Hermes home; each one is a name and the SQL that does it."""

from __future__ import annotations

import apsw

EVIL = "DELETE FROM messages WHERE session_id = 'bystander'"
ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"


def trigger(name: str, event: str, on: str = "messages", body: str = EVIL) -> str:
    return f"CREATE TRIGGER {name} AFTER {event} ON {on} BEGIN {body}; END"


def instead(name: str, event: str, body: str) -> str:
    return f"DROP TRIGGER {name}; {trigger(name, event, body=body)}"


OWN_DELETE = "DELETE FROM messages_fts WHERE rowid = old.id"
IN_TRIGGERS = {
    "a trigger of a name that nobody knows": (
        trigger("odd", "UPDATE", "sessions"), "odd"),
    "a known name with another body": (
        instead("messages_fts_delete", "DELETE", EVIL), "messages_fts_delete"),
    "a known name with one statement more": (
        instead("messages_fts_delete", "DELETE", f"{OWN_DELETE}; {EVIL}"), "messages_fts_delete"),
    "a known name with a wider condition": (
        instead("messages_fts_delete", "DELETE", OWN_DELETE.partition(" WHERE")[0]),
        "messages_fts_delete"),
    "a known name on another table": (
        "DROP TRIGGER messages_fts_update; "
        + trigger("messages_fts_update", "UPDATE", "sessions"), "messages_fts_update"),
    "a known name in other letters": (
        "DROP TRIGGER messages_fts_update; "
        + trigger('"MESSAGES_FTS_UPDATE"', "UPDATE", "sessions"), "MESSAGES_FTS_UPDATE"),
}  # fmt: skip
IN_TABLES = {
    "a view that nobody knows": (
        "CREATE VIEW odd AS SELECT * FROM sessions", "odd"),
    "a check that calls a function": (
        "ALTER TABLE sessions ADD COLUMN odd CHECK (abs(random()) >= 0)", "sessions"),
    "a default that is computed": (
        "CREATE TABLE odd (s TEXT REFERENCES sessions (id), x DEFAULT (random()))", "odd"),
    "a column with a collation": (
        "ALTER TABLE messages ADD COLUMN odd TEXT COLLATE nocase", "messages"),
    "an index of an expression": (
        "CREATE INDEX odd ON sessions (lower(title))", "odd"),
    "an index with a collation": (
        "CREATE INDEX odd ON sessions (title COLLATE nocase)", "odd"),
    "an index whose condition calls a function": (
        "CREATE INDEX odd ON messages (role) WHERE length(content) > 9", "odd"),
    "an index that forbids two of a kind": (
        "CREATE UNIQUE INDEX odd ON messages (session_id, timestamp, content)", "odd"),
    "another kind of search index": (
        "DROP TABLE messages_fts; CREATE TABLE messages_fts (content)", "messages_fts"),
    "rows that go with a message": (
        "CREATE TABLE odd (m INTEGER REFERENCES messages (id) ON DELETE CASCADE)", "odd"),
    "rows that change with a session": (
        "CREATE TABLE odd (s TEXT REFERENCES sessions (id) ON DELETE SET NULL)", "odd"),
    "rows that go with a session spelt otherwise": (
        'CREATE TABLE odd (s TEXT REFERENCES "SESSIONS" (id) ON DELETE CASCADE)', "odd"),
    "rows beside a session without row numbers": (
        "CREATE TABLE odd (s TEXT PRIMARY KEY REFERENCES sessions (id)) WITHOUT ROWID", "odd"),
}  # fmt: skip
UNREADABLE = {
    "an endless view in place of a table": (
        ("DROP TABLE gateway_routing; CREATE VIEW gateway_routing AS "
        f"{ENDLESS} SELECT '' AS scope, '' AS session_key, '{{}}' AS entry_json, i AS updated_at "
        "FROM n"), "gateway_routing"),
    "an endless view in place of what was spent": (
        ("DROP TABLE session_model_usage; CREATE VIEW session_model_usage AS "
        f"{ENDLESS} SELECT 'one' AS session_id, i AS last_seen, '' AS task FROM n"),
        "session_model_usage"),
    "a virtual table in place of a table": (
        ("DROP TABLE compression_locks; CREATE VIRTUAL TABLE compression_locks USING "
        "fts5 (session_id, holder, acquired_at, expires_at)"), "compression_locks"),
    "a generated column": (
        "ALTER TABLE sessions ADD COLUMN odd AS (hex(zeroblob(1000000)))", "sessions"),
    "a table without row numbers": (
        ("DROP TABLE compression_locks; CREATE TABLE compression_locks (session_id TEXT PRIMARY "
        "KEY, holder TEXT, acquired_at REAL, expires_at REAL) WITHOUT ROWID"), "compression_locks"),
}  # fmt: skip


def poison(database: str, sql: str) -> None:
    """Change the home behind the back of its agent, which is not running."""
    db = apsw.Connection(database)
    try:
        db.execute(sql)
    finally:
        db.close()
