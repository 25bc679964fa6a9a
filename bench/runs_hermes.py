"""Hermes as a contender, with its own classes. Runs in Hermes's environment."""

from __future__ import annotations

import asyncio
import importlib
import itertools
import os
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from bench import garbage
from bench.data import DUE, IDLE_MINUTES, NUMBERS, PAGE, SAID, TURN, places, population, texts
from bench.serving import bytes_below, seconds, seconds_each, seconds_together, serve

HOME = Path(os.environ["HERMES_HOME"])


class Hermes:
    """A home under load, homes that are only listed, and a gateway's store of sessions."""

    def __init__(self) -> None:
        HOME.mkdir(parents=True)
        # It would download a scanner otherwise.
        (HOME / "config.yaml").write_text("security:\n  tirith_enabled: false\n")
        self._state: Any = importlib.import_module("hermes_state")
        self._names = map(str, itertools.count())
        self._homes: dict[str, Any] = {}
        self._store: Any = None
        self._writing: Any = None

    def append_one(self, count: int) -> float:
        """Each message as Hermes writes it: one call, one commit."""
        database, name = self._load(), self._session(self._load())
        return seconds(partial(_append, database, name, texts(count)))

    def append_turns(self, turns: int) -> float:
        """A turn's messages; Hermes writes them one by one."""
        return self.append_one(turns * TURN)

    def append_parallel(self, threads: int, each: int) -> float:
        """Threads that write to sessions of their own through one `SessionDB`, as in a gateway."""
        database, said = self._load(), texts(each)
        names = [self._session(database) for _ in range(threads)]
        return seconds_together([partial(_append, database, name, said) for name in names])

    def stored(self) -> int:
        """Bytes on disk for what has been appended, once the log is folded in."""
        self._homes.pop(str(HOME / "load")).close()
        return bytes_below(str(HOME / "load"))

    def build_home(self, home: str, sessions: int, messages: int, now: int) -> None:
        """A home as if all those sessions had been held in it; its search index stays empty."""
        Path(home).mkdir(parents=True)
        connection = self._open(home)._conn
        triggers = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'messages'"
        ).fetchall()
        values = population(sessions, now)
        connection.execute("BEGIN IMMEDIATE")
        for trigger in triggers:
            connection.execute(f"DROP TRIGGER {trigger[0]}")
        connection.execute(INSERT_SESSIONS, values | {"messages": messages})
        connection.execute(INSERT_MESSAGES, values | {"places": places(messages)})
        for trigger in triggers:
            connection.execute(trigger[1])
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def list_page(self, home: str, skip: int, times: int) -> tuple[float, list[str]]:
        """The newest sessions by activity, as the terminal and the dashboard ask for them."""
        database = self._open(home)

        def page() -> Any:
            return database.list_sessions_rich(
                limit=PAGE, offset=skip, order_by_last_active=True, compact_rows=True
            )

        return seconds_each(page, times), [row["id"] for row in page()]

    def say(self, home: str, session: str) -> None:
        """One more message in a home."""
        self._open(home).append_message(session, "user", "one more")

    def build_store(self, sessions: int, due: int = DUE) -> None:
        """A gateway's sessions, of which some have been idle for two days."""
        session: Any = importlib.import_module("gateway.session")
        config: Any = importlib.import_module("gateway.config")
        policy = config.SessionResetPolicy(mode="idle", idle_minutes=IDLE_MINUTES)
        self._store = session.SessionStore(
            HOME / "sessions", config.GatewayConfig(default_reset_policy=policy)
        )
        now = session._now()
        long_ago = now - session.timedelta(days=2)
        for number in range(sessions):
            key = f"agent:main:telegram:dm:{number}"
            at = long_ago if number % (sessions // due) == 0 else now
            self._store._entries[key] = session.SessionEntry(
                session_key=key,
                session_id=f"s{number:07}",
                created_at=at,
                updated_at=at,
                platform=config.Platform.TELEGRAM,
                origin=session.SessionSource(
                    platform=config.Platform.TELEGRAM, chat_id=str(number), user_id=str(number)
                ),
            )
        self._store._loaded = True
        self._store._save()

    def find_due(self) -> tuple[float, int]:
        """One pass of the gateway's expiry watcher; what it finds is counted, not finalized."""
        session: Any = importlib.import_module("gateway.session")
        found: list[Any] = []

        class Finding(session.AsyncSessionStore):  # type: ignore[misc]  # a class of Hermes's
            async def set_expiry_finalized(self, entry: Any, **_: Any) -> None:
                found.append(entry)

        return self._watch(Finding(self._store)), len(found)

    def flush(self, flushes: int, milliseconds: int) -> tuple[float, int]:
        """One pass over as many expired sessions, with a hook that takes so long for each."""
        session: Any = importlib.import_module("gateway.session")
        plugins: Any = importlib.import_module("hermes_cli.plugins")
        self.build_store(flushes, due=flushes)
        done: list[str] = []

        def hook(session_id: str, **_: Any) -> None:
            time.sleep(milliseconds / 1000)
            done.append(session_id)

        plugins.get_plugin_manager()._hooks["on_session_finalize"] = [hook]
        return self._watch(session.AsyncSessionStore(self._store)), len(done)

    def _watch(self, store: Any) -> float:
        """How long a pass of the watcher takes on a store."""
        run: Any = importlib.import_module("gateway.run")
        gateway = SimpleNamespace(
            session_store=self._store,
            async_session_store=store,
            config=self._store.config,
            _running=True,
            _running_agents={},
            _evict_cached_agent=lambda _: None,
            _clear_conversation_scope=lambda _, reason: reason,
            _last_session_store_prune_ts=time.time(),
        )
        # The last step of a pass: here it also ends the watcher, which would start the next one.
        gateway._sweep_idle_cached_agents = lambda: setattr(gateway, "_running", False)
        real, run.asyncio = run.asyncio, SimpleNamespace(sleep=_no_delay)
        try:
            watcher = run.GatewayRunner._session_expiry_watcher
            return seconds(lambda: asyncio.run(watcher(gateway, interval=0)))
        finally:
            run.asyncio = real

    def touch(self) -> float:
        """What the gateway does after a message so that the session expires later."""
        return seconds(partial(self._store.update_session, "agent:main:telegram:dm:1"))

    def build_garbage(self, store: str, sessions: int, now: int) -> None:
        """A home in which most sessions are trivial, with its search index."""
        connection = self._store_at(store)._conn
        triggers = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'messages'"
        ).fetchall()
        connection.execute("BEGIN IMMEDIATE")
        for trigger in triggers:
            connection.execute(f"DROP TRIGGER {trigger[0]}")
        values = garbage.values(sessions, now)
        for statement in GARBAGE:
            used = {name: value for name, value in values.items() if f":{name}" in statement}
            connection.execute(statement, used)
        for trigger in triggers:
            connection.execute(trigger[1])
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def collect(self, ledger: str) -> tuple[float, int]:
        """Prune what has few messages and is a week old."""
        database, done = self._store_at(ledger), []
        prune = partial(database.prune_sessions, older_than_days=7, max_messages=garbage.MOST)
        return seconds(lambda: done.append(prune())), done[0]

    def build_ended(self, home: str, sessions: int, messages: int, now: int) -> int:
        """A home whose sessions ended a month ago, with its search index; its size in bytes."""
        Path(home).mkdir(parents=True)
        connection = self._open(home)._conn
        values = garbage.values(sessions, now, trivial=0)
        values = {name: values[name] for name in ("sessions", "now", "trivial", "prose")}
        ended = {name: value for name, value in values.items() if name != "prose"}
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(GARBAGE[0], ended)
        connection.execute(ENDED_MESSAGES, {"messages": messages, "prose": 2 * values["prose"]})
        connection.commit()
        self._homes.pop(home).close()
        return bytes_below(home)

    def prune(self, home: str) -> tuple[float, int]:
        """Prune all that is a week old."""
        database, done = self._open(home), []
        prune = partial(database.prune_sessions, older_than_days=7)
        return seconds(lambda: done.append(prune())), done[0]

    def begin_writing(self, store: str) -> None:
        """Open a session in a database that somebody else prunes.

        Hermes would stop all writers itself to put its index in order, however long the run takes.
        """
        database = self._store_at(store)
        database._OPTIMIZE_EVERY_N_WRITES = 10**9
        self._writing = partial(database.append_message, self._session(database), "user")

    def write_until(self, stopped: str, pause: float) -> list[float | None]:
        """Append again and again until a file appears."""
        return garbage.write_until(stopped, self._writing, pause)

    def _store_at(self, store: str) -> Any:
        Path(store).parent.mkdir(parents=True, exist_ok=True)
        if store not in self._homes:
            self._homes[store] = self._state.SessionDB(Path(store))
        return self._homes[store]

    def _load(self) -> Any:
        return self._open(str(HOME / "load"))

    def _open(self, home: str) -> Any:
        if home not in self._homes:
            self._homes[home] = self._state.SessionDB(Path(home) / "state.db")
        return self._homes[home]

    def _session(self, database: Any) -> str:
        name = next(self._names)
        database.create_session(name, "cli")
        return name


def _append(database: Any, session: str, said: list[str]) -> None:
    for text in said:
        database.append_message(session, "user", text)


async def _no_delay(_: float) -> None:
    """The watcher waits a minute before its first pass."""


INSERT_SESSIONS = f"""INSERT INTO sessions (id, source, system_prompt, started_at, message_count)
{NUMBERS}SELECT id, 'telegram', :prose || :prose, active / 1e6 - 3600, :messages FROM population"""

INSERT_MESSAGES = f"""INSERT INTO messages (session_id, role, content, timestamp)
{NUMBERS}, said (i, id, active, place) AS (
    SELECT i, population.id, active, value FROM population, json_each(:places)
)
SELECT id, CASE WHEN place % 2 = 0 THEN 'user' ELSE 'assistant' END, {SAID},
       active / 1e6 - 60 * (json_array_length(:places) - 1 - place)
FROM said"""


GARBAGE = (
    f"""INSERT INTO sessions (id, source, started_at, ended_at, end_reason, message_count)
{garbage.SESSIONS}SELECT id, 'telegram', active / 1e6 - 3600, active / 1e6, 'idle', said
FROM garbage""",
    f"""INSERT INTO messages (session_id, role, content, timestamp)
WITH RECURSIVE {garbage.PLACES}, said (i, session, ended, count) AS (
    SELECT rowid, id, ended_at, message_count FROM sessions
)
SELECT session, CASE WHEN place % 2 = 0 THEN 'user' ELSE 'assistant' END, {garbage.SAID},
       ended - 60 * (count - place)
FROM said JOIN places ON place <= count""",
    *(
        f"INSERT INTO {index} (rowid, content) SELECT id, content || '  ' FROM messages"
        for index in ("messages_fts", "messages_fts_trigram")
    ),
)


ENDED_MESSAGES = """INSERT INTO messages (session_id, role, content, timestamp)
WITH RECURSIVE places (place) AS (
    SELECT 1 UNION ALL SELECT place + 1 FROM places WHERE place < :messages
)
SELECT id, CASE WHEN place % 2 = 0 THEN 'user' ELSE 'assistant' END,
       substr(:prose, 1 + (sessions.rowid * 31 + place * 17) % 900, 1000), ended_at - place
FROM sessions, places"""


if __name__ == "__main__":
    serve(Hermes())
