"""Appends that share a commit share its statements, and are judged each by its own."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import pytest

from sexton.ledger.at_once import MOST, at_once, portions
from sexton.ledger.database import Transaction
from sexton.ledger.messages import LIGHT, SHORT, LedgerMessages
from sexton.ledger.opening import open_ledger
from sexton.ledger.sqlite import SqliteDatabase
from sexton.ledger.statements import statements
from sexton.model.message import Draft, draft
from sexton.model.schedule import Schedule
from sexton.ports import Appended, Batch, Ledger
from sexton.testing.ledger_contract_samples import (
    IDLE,
    NO_RULES,
    NOON,
    at,
    born,
    entry,
    heard,
    race,
    reread,
    say,
    seen,
)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = open_ledger(str(tmp_path / "ledger.db"))
    yield opened
    opened.close()


def database_of(ledger: Ledger) -> SqliteDatabase:
    assert isinstance(ledger.messages, LedgerMessages)
    database = ledger.messages._database
    assert isinstance(database, SqliteDatabase)
    return database


def in_one_batch(ledger: Ledger, jobs: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run writes that all board while a first one is being committed; their results."""
    group, started = database_of(ledger)._group, threading.Event()

    def first(_: Transaction) -> None:
        deadline = time.monotonic() + 60
        started.set()
        while len(group._boarding.tickets) < len(jobs) and time.monotonic() < deadline:
            time.sleep(0.001)

    writer = threading.Thread(target=database_of(ledger).write, args=(first,))
    writer.start()
    assert started.wait(60)
    results = race(list(jobs))
    writer.join(60)
    return results


def steps_of(ledger: Ledger) -> list[str]:
    """What the writing connection is asked to do from now on, each by its first words."""
    asked: list[str] = []

    def note(_: apsw.Cursor, text: str, values: object) -> bool:
        asked.extend(re.findall(r"^(?:UPDATE|INSERT INTO) \w+", text, re.MULTILINE))
        return True

    database_of(ledger)._writer().exec_trace = note
    return asked


def test_appends_of_one_batch_are_stored_by_two_statements(ledger: Ledger) -> None:
    sessions = [born(ledger, f"{number}") for number in range(16)]
    asked = steps_of(ledger)
    for turn in (1, 2):
        said = [partial(say, ledger, each, each.id, now=at(turn)) for each in sessions]
        assert in_one_batch(ledger, said) == [Appended(turn)] * 16
    assert asked == ["UPDATE sessions", "INSERT INTO messages"] * 2
    for each in sessions:
        assert [message.content for message in heard(ledger, each)] == [each.id] * 2
        now = reread(ledger, each)
        assert (now.message_count, now.byte_count) == (2, 2 * len(each.id))
        assert now.active_at == at(2)


def test_a_lone_append_is_a_whole_transaction_in_one_call(ledger: Ledger) -> None:
    begun, calls = born(ledger), list[tuple[int, str]]()

    def note(cursor: apsw.Cursor, text: str, values: object) -> bool:
        calls.append((id(cursor), text.split(maxsplit=1)[0]))
        return True

    database_of(ledger)._writer().exec_trace = note
    assert say(ledger, begun, "a", 2, None, now=at(1)) == Appended(3)
    assert [word for _, word in calls] == ["BEGIN", "UPDATE", "INSERT", "SELECT", "COMMIT"]
    assert len({cursor for cursor, _ in calls}) == 1
    stored = heard(ledger, begun)
    assert [(each.seq, each.content, each.at) for each in stored] == [
        (1, "a", at(1)),
        (2, 2, at(1)),
        (3, None, at(1)),
    ]


def test_a_lone_append_that_fails_leaves_nothing_behind(ledger: Ledger) -> None:
    begun = born(ledger)
    bad: Any = Draft("user", 2, b"neither text nor JSON", None)  # type: ignore[arg-type]
    with pytest.raises(apsw.ConstraintError):
        ledger.messages.append(Batch(session=begun, drafts=[bad], schedule=NO_RULES), NOON)
    assert reread(ledger, begun) == begun
    assert say(ledger, begun, "next") == Appended(1)


def test_a_long_append_is_stored_as_well_as_a_short_one(ledger: Ledger) -> None:
    begun = born(ledger)
    for count in (SHORT, SHORT + 1, 3 * MOST + 5):
        before = len(heard(ledger, begun))
        assert say(ledger, begun, *range(count)) == Appended(before + count)
        assert [each.content for each in heard(ledger, begun)[before:]] == list(range(count))


def test_each_append_of_a_batch_is_judged_by_its_own_session(ledger: Ledger) -> None:
    sessions = {
        name: born(ledger, name) for name in ("good", "ended", "fenced", "other rules", "limited")
    }
    assert ledger.book.end(seen(sessions["ended"]), IDLE, entry(sessions["ended"]), at(1))
    ended = reread(ledger, sessions["ended"])
    fenced = replace(sessions["fenced"], epoch=7)
    limited = Schedule(0, at=at(99), at_messages=2)
    results = in_one_batch(
        ledger,
        [
            partial(say, ledger, sessions["good"], "a", "b", now=at(2)),
            partial(say, ledger, ended, "late", now=at(2)),
            partial(say, ledger, fenced, "fenced", now=at(2)),
            partial(say, ledger, sessions["other rules"], "c", schedule=Schedule(3), now=at(2)),
            partial(say, ledger, sessions["limited"], "d", "e", schedule=limited, now=at(2)),
            partial(say, ledger, replace(ended, ref=1_000), "nowhere", now=at(2)),
        ],
    )
    assert results == [Appended(2), None, None, Appended(1), Appended(2), None]
    assert reread(ledger, ended) == ended
    assert reread(ledger, sessions["fenced"]) == sessions["fenced"]
    assert reread(ledger, sessions["good"]).due_at is None
    assert reread(ledger, sessions["limited"]).due_at == at(2)
    assert [each.content for each in heard(ledger, sessions["good"])] == ["a", "b"]
    assert [each.content for each in heard(ledger, sessions["other rules"])] == ["c"]
    assert heard(ledger, ended) == heard(ledger, fenced) == []


def test_appends_of_one_batch_to_the_same_session_are_numbered_one_after_the_other(
    ledger: Ledger,
) -> None:
    begun, other = born(ledger), born(ledger, "other")
    said = [partial(say, ledger, begun, number, number) for number in range(9)]
    results = in_one_batch(ledger, [*said, partial(say, ledger, other, "once")])
    assert sorted(result.last_seq for result in results) == [1, *range(2, 19, 2)]
    stored = heard(ledger, begun)
    assert [each.seq for each in stored] == list(range(1, 19))
    for number, result in enumerate(results[:9]):
        assert [each.content for each in stored[result.last_seq - 2 : result.last_seq]] == [
            number,
            number,
        ]


def test_an_append_that_fails_does_not_hurt_those_of_its_batch(ledger: Ledger) -> None:
    sessions = [born(ledger, f"{number}") for number in range(8)]
    bad: Any = Draft("user", 2, b"neither text nor JSON", None)  # type: ignore[arg-type]

    def append(number: int) -> Appended | type[apsw.Error] | None:
        drafts = [bad if number == 3 else draft("user", number)]
        batch = Batch(session=sessions[number], drafts=drafts, schedule=NO_RULES)
        try:
            return ledger.messages.append(batch, NOON)
        except apsw.ConstraintError as problem:
            return type(problem)

    results = in_one_batch(ledger, [partial(append, number) for number in range(8)])
    assert results.pop(3) is apsw.ConstraintError
    assert results == [Appended(1)] * 7
    assert [len(heard(ledger, each)) for each in sessions] == [1, 1, 1, 0, 1, 1, 1, 1]
    assert reread(ledger, sessions[3]) == sessions[3]


def test_heavy_messages_are_in_memory_one_at_a_time(ledger: Ledger) -> None:
    sessions = [born(ledger, f"{number}") for number in range(4)]
    asked = steps_of(ledger)
    heavy = "x" * (LIGHT // 4)
    said = [partial(say, ledger, each, heavy) for each in sessions]
    assert in_one_batch(ledger, said) == [Appended(1)] * 4
    assert asked == ["UPDATE sessions", *["INSERT INTO messages"] * 4]
    for each in sessions:
        assert [message.content for message in heard(ledger, each)] == [heavy]


def test_rows_are_cut_into_few_sizes() -> None:
    for count in range(200):
        cut = [list(portion) for portion in portions(range(count))]
        assert [each for portion in cut for each in portion] == list(range(count))
        assert {len(portion) for portion in cut} <= {1, 2, 4, 8, 16, MOST}


def test_the_statement_for_many_finds_each_session_by_its_key(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "ledger.db")
    text, _ = at_once(statements("sqlite")["append_guard"], MOST)
    values = [0] * text.count("?")
    steps = database._writer().execute(f"EXPLAIN QUERY PLAN {text}", values).fetchall()
    assert "SEARCH sessions USING INTEGER PRIMARY KEY (rowid=?)" in [step for *_, step in steps]
    assert "SCAN sessions" not in [step for *_, step in steps]
    database.close()
