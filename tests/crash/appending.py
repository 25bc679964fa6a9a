"""Programs that append until they are killed, and tell every acknowledgement."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from itertools import count

import sexton.store.postgres  # noqa: F401  # imported before the fork, as in a warm agent
from sexton import wiring
from sexton.sessions.agent_session import OpenSession
from sexton.store import sqlite_file
from sexton.store.statements import statements
from tests.kit.nursery import Report

# Read before the fork too, so that a long campaign tests one version of the text.
for dialect in ("sqlite", "postgres"):
    statements(dialect)

THREADS = 8
FORKS = 2


@dataclass(frozen=True)
class Token:
    """The name of one append: who made it, which of its own it was, how many messages it had."""

    who: str
    turn: int
    size: int

    def texts(self) -> list[str]:
        """The messages of the append; mostly short, now and then several pages of the file."""
        length = 20_000 if self.turn % 17 == 16 else (self.turn * 131) % 900
        return [f"{self.who} {self.turn} {self.size} {n} " + "ü\0\ud800" * (length // 3)
                for n in range(self.size)]  # fmt: skip


def token_of(text: str) -> tuple[Token, int]:
    """The append a message belongs to, and its place in there."""
    who, turn, size, place, _ = text.split(" ", 4)
    return Token(who, int(turn), int(size)), int(place)


def append(report: Report, url: str, mode: str, tag: str) -> None:
    """Open the ledger and append in that mode until killed."""
    if mode == "folds":
        fold_often()
    report.tell("opening")
    with wiring.open(url) as sexton, sexton.worker() as worker:
        session = worker.session(mode, source="chat")
        report.tell("opened", session.id)
        if mode == "forks":
            _fork(report, session, tag)
        elif mode == "threads":
            for number in range(THREADS):
                _in_background(report, session, f"{tag}.{number}")
        _append(report, session, tag, 5 if mode == "batches" else 1)


def fold_often() -> None:
    """Have this process copy the log into the file when it is short; called before it opens one."""
    sqlite_file.LOG_PAGES = 5


def open_only(report: Report, url: str) -> None:
    """Open the ledger, which may not exist yet, and close it."""
    report.tell("opening")
    with wiring.open(url) as sexton:
        report.tell("opened", sexton.ledger.id)


def open_at_a_signal(report: Report, url: str, fifo: str) -> None:
    """Be ready, wait until somebody opens the other end of a fifo, then open the ledger."""
    report.tell("ready")
    with open(fifo, "rb"):
        open_only(report, url)


def _append(report: Report, session: OpenSession, who: str, size: int) -> None:
    try:
        for turn in count():
            token = Token(who, turn, 1 + turn % size)
            report.tell("try", who, turn)
            last = session.append_many(
                {"role": "user", "content": text, "turn": turn} for text in token.texts()
            )
            report.tell("done", session.id, last, token.who, token.turn, token.size)
    finally:  # not reached by a kill
        report.tell("gave-up", who)


def _in_background(report: Report, session: OpenSession, who: str) -> None:
    threading.Thread(target=_append, args=(report, session, who, 1), daemon=True).start()


def _fork(report: Report, session: OpenSession, tag: str) -> None:
    for number in range(FORKS):
        if os.fork() == 0:
            _append(report, session, f"{tag}-{number}", 1)
