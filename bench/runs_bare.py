"""What can the disk do? One table, one fsync per commit, nothing else: the limit for one writer.

Also a table of sessions that each carry a timer, as if nothing knew which process holds them.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import apsw

from bench.data import NUMBERS, TURN, population, texts
from bench.serving import seconds, serve

NOW = 1_800_000_000_000_000


class Bare:
    """A table of messages and a connection that waits for the disk."""

    def __init__(self) -> None:
        self._connection = apsw.Connection(os.path.join(os.environ["HOME"], "bare.db"))
        self._connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL").fetchall()
        self._connection.execute("CREATE TABLE messages (ref INTEGER PRIMARY KEY, content BLOB)")

    def append_one(self, count: int) -> float:
        """Each message in a commit of its own."""
        return seconds(partial(self._write, [[text.encode()] for text in texts(count)]))

    def append_turns(self, turns: int) -> float:
        """Each turn in a commit of its own."""
        contents = [text.encode() for text in texts(turns * TURN)]
        return seconds(
            partial(self._write, [contents[at : at + TURN] for at in range(0, len(contents), TURN)])
        )

    def build_sessions(self, name: str, sessions: int, width: int) -> None:
        """A table of open sessions, their own words so wide, all of which were just heard of."""
        self._connection.execute(
            f"""CREATE TABLE "{name}" (id TEXT PRIMARY KEY, source TEXT, prompt TEXT, parent TEXT,
                started_at INTEGER, ended_at INTEGER, end_reason TEXT, heartbeat_at INTEGER)"""
        )
        values = population(sessions, NOW) | {"width": width}
        with self._connection:
            self._connection.execute(
                f"""INSERT INTO "{name}"
                {NUMBERS}SELECT id, 'telegram', substr(:prose || :prose, 1, :width), NULL,
                :now, NULL, NULL, :now FROM population""",
                values,
            )

    def beat(self, name: str, commits: int) -> float:
        """The timer of every session, in so many commits."""
        ids = [row[0] for row in self._connection.execute(f'SELECT id FROM "{name}"')]
        update = f'UPDATE "{name}" SET heartbeat_at = heartbeat_at + 1 WHERE id = ?'
        each = len(ids) // commits

        def run() -> None:
            for at in range(0, len(ids), each):
                self._connection.execute("BEGIN IMMEDIATE")
                self._connection.executemany(update, [(id,) for id in ids[at : at + each]])
                self._connection.execute("COMMIT")

        return seconds(run)

    def reap(self, name: str, dead: int) -> tuple[float, int]:
        """Find the sessions whose timer is late by looking at all, and end them in one commit."""
        count = int(str(self._connection.execute(f'SELECT MAX(rowid) FROM "{name}"').get))
        late = f'UPDATE "{name}" SET heartbeat_at = 0, ended_at = NULL WHERE rowid % ? = 1'
        self._connection.execute(late, (count // dead,)).fetchall()
        found: list[tuple[Any, ...]] = []

        def run() -> None:
            find = f'SELECT id FROM "{name}" WHERE ended_at IS NULL AND heartbeat_at < ?'
            found.extend(self._connection.execute(find, (NOW,)).fetchall())
            end = f"""UPDATE "{name}" SET ended_at = heartbeat_at, end_reason = 'reaped'
                WHERE id = ? AND ended_at IS NULL"""
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany(end, found)
            self._connection.execute("COMMIT")

        return seconds(run), len(found)

    def _write(self, commits: list[list[bytes]]) -> None:
        for contents in commits:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany(
                "INSERT INTO messages (content) VALUES (?)", [(content,) for content in contents]
            )
            self._connection.execute("COMMIT")


if __name__ == "__main__":
    serve(Bare())
