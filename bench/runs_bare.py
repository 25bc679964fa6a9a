"""What can the disk do? One table, one fsync per commit, nothing else: the limit for one writer."""

from __future__ import annotations

import os
from functools import partial

import apsw

from bench.data import TURN, texts
from bench.serving import seconds, serve


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

    def _write(self, commits: list[list[bytes]]) -> None:
        for contents in commits:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany(
                "INSERT INTO messages (content) VALUES (?)", [(content,) for content in contents]
            )
            self._connection.execute("COMMIT")


if __name__ == "__main__":
    serve(Bare())
