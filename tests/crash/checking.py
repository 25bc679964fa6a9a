"""Is everything that was acknowledged in the ledger, exactly, and is the ledger whole?

It looks with a plain connection of its own, not through the code under test.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

import apsw
import psycopg

from sexton.store.opening import sqlite_path
from tests.crash.appending import Token, token_of

TABLES = (
    "SELECT tablename FROM pg_tables WHERE schemaname = 'sexton'",
    "SELECT name FROM sqlite_schema",
)

Ask = Callable[[str], list[tuple[Any, ...]]]


@dataclass
class Promises:
    """What was acknowledged: for each session its appends by their last sequence number."""

    kept: dict[str, dict[int, Token]] = field(default_factory=lambda: defaultdict(dict))

    def hear(self, lines: Iterable[str]) -> int:
        """Note the acknowledgements among the lines; how many there were."""
        heard = 0
        for line in lines:
            match line.split():
                case ["done", session, last, who, turn, size]:
                    self.kept[session][int(last)] = Token(who, int(turn), int(size))
                    heard += 1
        return heard


def ask(url: str, text: str) -> list[tuple[Any, ...]]:
    """The rows of one statement."""
    with _asking(url) as run:
        return run(text)


def tell(url: str, text: str) -> None:
    """Carry out one statement that has no rows."""
    if url.startswith("sqlite"):
        ask(url, text)
    else:
        with psycopg.connect(url, options="-c search_path=sexton") as connection:
            connection.execute(text.encode())


def check(url: str, promises: Promises) -> int:
    """Assert that every promise is kept; how many appends are stored that were not promised."""
    with _asking(url) as run:
        if url.startswith("sqlite"):
            assert run("PRAGMA integrity_check") == [("ok",)]
            assert run("PRAGMA foreign_key_check") == []
        return _check(run, promises)


def has_schema(url: str) -> bool:
    """Whether the ledger's tables are there, all of them or none."""
    names = {row[0] for row in ask(url, TABLES[url.startswith("sqlite")])}
    assert not names or {"ledger", "sessions", "messages", "holders"} <= names
    return bool(names)


@contextmanager
def _asking(url: str) -> Iterator[Ask]:
    """A plain connection to the ledger's database."""
    if url.startswith("sqlite"):
        with closing(apsw.Connection(str(sqlite_path(url)))) as file:
            yield lambda text: file.execute(text).fetchall()
    else:
        with psycopg.connect(url, options="-c search_path=sexton") as server:
            # The last call of a killed client may still be carried out: look at one moment only.
            server.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            yield lambda text: server.execute(text.encode()).fetchall()


def _check(ask: Ask, promises: Promises) -> int:
    unpromised = 0
    sessions = ask("SELECT ref, id, last_seq, message_count, byte_count FROM sessions")
    assert promises.kept.keys() <= {row[1] for row in sessions}
    for ref, id, last_seq, message_count, byte_count in sessions:
        rows = ask(f"SELECT seq, content, extra FROM messages WHERE session = {ref} ORDER BY seq")
        assert [row[0] for row in rows] == list(range(1, len(rows) + 1))
        assert last_seq == message_count == len(rows)
        assert byte_count == sum(len(row[1]) + len(row[2] or b"") for row in rows)
        unpromised += _check_texts([_text(row[1]) for row in rows], promises.kept[id])
    return unpromised


def _check_texts(texts: list[str], promised: dict[int, Token]) -> int:
    """Every promised append is where it was said to be; every other is whole, and there once."""
    found: list[Token] = []
    while sum(token.size for token in found) < len(texts):
        first = sum(token.size for token in found)
        token, place = token_of(texts[first])
        assert place == 0
        assert texts[first : first + token.size] == token.texts()
        assert promised.get(first + token.size, token) == token
        found.append(token)
    assert len(set(found)) == len(found)
    assert set(promised.values()) <= set(found)
    return len(found) - len(promised)


def _text(stored: bytes) -> str:
    return stored.decode("utf-8", "surrogatepass")
