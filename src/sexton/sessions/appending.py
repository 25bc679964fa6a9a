"""How does one statement store the appends of many sessions?

A connection gives the interpreter away with each step of each statement, and has to win it back
from whoever else wants it; and the statements around a change cost more than the change itself.
So an append says what it expects to find. It is written into a view, whose trigger stores it if
that holds: one statement, one step, a transaction by itself. Where it does not hold for one of
them, nothing is stored, and each goes the long way, which tells what there is instead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import apsw

from sexton.core.message import Draft
from sexton.sessions.session_ports import Batch
from sexton.store.statements import statements

SHORT = 8  # messages of an append; there is a view for each number of them
MOST = 64  # appends in a statement; there is one for each power of two
LIGHT = 1_000_000  # bytes that may be in memory once more while they are stored
REMEMBERED = 10_000  # sessions whose last append is known

GUARD = (
    "ref", "id", "epoch", "seen", "serial", "count", "bytes", "now", "due_at", "at_messages",
    "at_bytes", "at_turns", "preview", "human",
)  # fmt: skip
"""What the guard of an append is given."""

_SERIAL, _BYTES, _NOW = (GUARD.index(name) for name in ("serial", "bytes", "now"))

Known = tuple[int, int, int]
"""What an append answers: the last message's number, the warnings given, the policies in force."""

_EXPECTED = ("last_seq", "warned", "in_force")
_MESSAGE = Draft._fields

_VIEW = """
CREATE TEMP VIEW IF NOT EXISTS appends_{count} ({columns}) AS VALUES ({values});
CREATE TEMP TRIGGER IF NOT EXISTS store_{count}
INSTEAD OF INSERT ON appends_{count} WHEN NEW.ref IS NOT NULL
BEGIN
    {guard}
      AND last_seq = NEW.last_seq AND warned = NEW.warned
      AND NEW.in_force = (SELECT COALESCE(MAX(serial), 0) FROM policies);
    SELECT RAISE(ABORT, 'not as expected') WHERE changes() = 0;
    INSERT INTO messages (session, seq, at, role, is_text, content, extra) VALUES {messages};
END;
"""


class Append:
    """An append to SQLite, to be stored by itself or together with those of other sessions.

    `known` is what the last append to each session has answered.
    """

    __slots__ = ("batch", "drafts", "guard", "known", "surprised")

    def __init__(self, guard: tuple[Any, ...], batch: Batch, known: dict[int, Known]) -> None:
        self.guard = guard
        self.batch = batch
        self.drafts = batch.drafts
        self.known = known
        self.surprised = False

    def __call__(self, tx: Any) -> Known | None:
        """Its answer; None where nothing may be written."""
        return self.at_once(tx) or self._whatever_there_is(tx)

    def at_once(self, tx: Any) -> Known | None:
        """Its answer; None if that is too much, or something else is found: nothing is stored."""
        guard, count = self.guard, len(self.drafts)
        if self.surprised or not 0 < count <= SHORT or (count > 1 and guard[_BYTES] >= LIGHT):
            return None
        ref, known = guard[0], self.known
        expected = known.get(ref) or self.at_first()
        if not _store(tx.cursor, _insert(1, count), self._row(expected), count):
            known.pop(ref, None)
            self.surprised = True
            return None
        return _remember(known, ref, (expected[0] + count, expected[1], expected[2]))

    @staticmethod
    def together(tx: Any, jobs: Sequence[Append]) -> list[Known] | None:
        """Their answers, likewise. Of several to one session each expects what the last leaves."""
        if len(jobs) == 1:
            alone = jobs[0].at_once(tx)
            return None if alone is None else [alone]
        count = len(jobs[0].drafts)
        if not 0 < count <= SHORT or not _alike(jobs):
            return None
        known, left = jobs[0].known, dict[int, Known]()
        values, answers = list[Any](), list[Known]()
        for job in jobs:
            ref = job.guard[0]
            expected = left.get(ref) or known.get(ref) or job.at_first()
            values += job._row(expected)
            left[ref] = answer = expected[0] + count, expected[1], expected[2]
            answers.append(answer)
        size = 1 << (len(jobs) - 1).bit_length()
        values += [None] * (len(values) // len(jobs) * (size - len(jobs)))
        if not _store(tx.cursor, _insert(size, count), values, count):
            return None
        for ref, answer in left.items():
            _remember(known, ref, answer)
        return answers

    def _row(self, expected: Known) -> list[Any]:
        values = [*self.guard, *expected]
        for draft in self.drafts:
            values += draft
        return values

    def at_first(self) -> Known:
        """What is expected of a session that was not written to yet, but by whoever opened it."""
        session = self.batch.session
        return session.message_count, session.warned.value, self.guard[_SERIAL]

    def _whatever_there_is(self, tx: Any) -> Known | None:
        found: Known | None = tx.one("append_guard", **dict(zip(GUARD, self.guard, strict=True)))
        if found is not None:
            ref, now, first = self.guard[0], self.guard[_NOW], found[0] - len(self.drafts) + 1
            tx.many(
                "insert_message",
                ((ref, seq, now, *draft) for seq, draft in enumerate(self.drafts, first)),
            )
            _remember(self.known, ref, found)
        return found


def _remember(known: dict[int, Known], ref: int, answer: Known) -> Known:
    if len(known) >= REMEMBERED:
        known.clear()
    known[ref] = answer
    return answer


def _alike(jobs: Sequence[Append]) -> bool:
    """Whether one statement can be made of them."""
    return (
        len(jobs) <= MOST
        and len({len(job.drafts) for job in jobs}) == 1
        and sum([job.guard[_BYTES] for job in jobs]) < LIGHT
    )


def _store(cursor: apsw.Cursor, insert: str, values: list[Any], count: int) -> bool:
    try:
        try:
            cursor.execute(insert, values)
        except apsw.SQLError:  # not before it is needed: a connection seldom needs them all
            cursor.connection.execute(_view(count)).fetchall()
            cursor.execute(insert, values)
    except apsw.ConstraintError:
        return False
    return True


def _columns(count: int) -> list[str]:
    said = [f"{name}_{place}" for place in range(1, count + 1) for name in _MESSAGE]
    return [*GUARD, *_EXPECTED, *said]


@cache
def _insert(jobs: int, count: int) -> str:
    row = f"({', '.join('?' * len(_columns(count)))})"
    return f"INSERT INTO appends_{count} VALUES {', '.join([row] * jobs)}"


def _view(count: int) -> str:
    """What appends of so many messages are written into; its guard is that of the long way."""
    guard = statements("sqlite")["append_guard"].partition("RETURNING")[0]
    columns = _columns(count)
    messages = [
        f"(NEW.ref, NEW.last_seq + {place}, NEW.now, NEW.role_{place}, NEW.is_text_{place},"
        f" NEW.content_{place}, NEW.extra_{place})"
        for place in range(1, count + 1)
    ]
    return _VIEW.format(
        count=count,
        columns=", ".join(columns),
        values=", ".join(["NULL"] * len(columns)),
        guard=re.sub(r":([a-z_]+)", r"NEW.\1", guard),
        messages=", ".join(messages),
    )
