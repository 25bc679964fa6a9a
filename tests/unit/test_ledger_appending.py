"""Appends that share a commit are each judged by their own session."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import pytest

from sexton.core.message import Draft, draft
from sexton.core.schedule import Schedule
from sexton.core.session import Limit
from sexton.rules.rulebook import Rulebook, encode
from sexton.sessions.message_store import LedgerMessages
from sexton.sessions.model import Appended, Batch
from sexton.store.database import Transaction
from sexton.store.ledger import Ledger
from sexton.store.opening import open_ledger
from sexton.store.sqlite import SqliteDatabase
from tests.contract.ledger_contract_samples import (
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

SESSIONS = 64


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


def connection_of(ledger: Ledger) -> apsw.Connection:
    """What the ledger writes through."""
    writer = database_of(ledger)._writer
    assert writer is not None
    return writer.connection


def in_one_batch(ledger: Ledger, jobs: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run writes that all board while a first one is being committed; their results."""
    group, started = database_of(ledger)._group, threading.Event()

    def first(_: Transaction) -> None:
        started.set()
        for _tried in range(240_000):
            if len(group._boarding.tickets) >= len(jobs):
                return
            time.sleep(0.001)

    writer = threading.Thread(target=database_of(ledger).write, args=(first,))
    writer.start()
    assert started.wait(240)
    results = race(list(jobs))
    writer.join(240)
    return results


def transactions_of(ledger: Ledger) -> list[int]:
    """How many rows of messages each transaction stores from now on."""
    stored: list[int] = []

    def note(_: apsw.Cursor, text: str, values: object) -> bool:
        if text.startswith("BEGIN"):
            stored.append(0)
        elif text.startswith("INSERT INTO messages"):
            stored[-1] += 1
        return True

    connection_of(ledger).exec_trace = note
    return stored


def test_appends_that_wait_together_share_one_transaction(ledger: Ledger) -> None:
    sessions = [born(ledger, f"{number}") for number in range(SESSIONS)]
    stored = transactions_of(ledger)
    for turn in (1, 2):
        said = [partial(say, ledger, each, each.id, now=at(turn)) for each in sessions]
        assert in_one_batch(ledger, said) == [Appended(turn)] * SESSIONS
    assert stored == [0, SESSIONS] * 2  # the first write of a batch stores no message
    for each in sessions:
        assert [message.content for message in heard(ledger, each)] == [each.id] * 2
        now = reread(ledger, each)
        assert (now.message_count, now.byte_count) == (2, 2 * len(each.id))
        assert now.active_at == at(2)


def test_an_append_of_several_messages_is_one_transaction(ledger: Ledger) -> None:
    begun = born(ledger)
    transactions = transactions_of(ledger)
    assert say(ledger, begun, "a", 2, None, now=at(1)) == Appended(3)
    assert transactions == [3]
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


def test_appends_of_other_lengths_and_other_jobs_share_the_commit_all_the_same(
    ledger: Ledger,
) -> None:
    one, two, marked = (born(ledger, name) for name in ("one", "two", "marked"))
    stored = transactions_of(ledger)
    results = in_one_batch(
        ledger,
        [
            partial(say, ledger, one, "a"),
            partial(say, ledger, two, "b", "c"),
            partial(ledger.book.mark, marked.ref, title="marked"),
        ],
    )
    assert results == [Appended(1), Appended(2), True]
    assert stored == [0, 3]


@pytest.fixture
def other(ledger: Ledger) -> Iterator[Ledger]:
    """The same ledger, as another process has it open."""
    opened = open_ledger(database_of(ledger).path)
    yield opened
    opened.close()


def test_what_another_process_has_written_meanwhile_is_found(ledger: Ledger, other: Ledger) -> None:
    begun = born(ledger)
    for number in range(4):
        assert say(ledger, begun, "here") == Appended(2 * number + 1)
        assert say(other, begun, "there") == Appended(2 * number + 2)
    assert [each.content for each in heard(ledger, begun)] == ["here", "there"] * 4


def test_a_warning_and_policies_of_another_process_are_told_at_the_next_append(
    ledger: Ledger, other: Ledger
) -> None:
    begun = born(ledger)
    assert say(ledger, begun, "a") == Appended(1)
    now = reread(other, begun)
    assert other.index.warn(seen(now), Limit.MESSAGES, entry(now), at(1))
    assert say(ledger, begun, "b") == Appended(2, Limit.MESSAGES)
    serial = other.policies.publish("digest", encode(Rulebook()), "anna", at(2)).serial
    assert say(ledger, begun, "c") == Appended(3, Limit.MESSAGES, serial)


def test_a_failed_append_counts_nothing_for_the_next(ledger: Ledger) -> None:
    begun = born(ledger)
    bad: Any = Draft("user", 2, b"neither text nor JSON", None)  # type: ignore[arg-type]
    assert say(ledger, begun, "a") == Appended(1)
    with pytest.raises(apsw.ConstraintError):
        ledger.messages.append(Batch(session=begun, drafts=[bad], schedule=NO_RULES), NOON)
    assert say(ledger, begun, "b") == Appended(2)


def pages_written(ledger: Ledger, act: Callable[[], object]) -> int:
    """How many pages of the log that takes."""
    log = Path(f"{database_of(ledger).path}-wal")
    before = log.stat().st_size
    act()
    return (log.stat().st_size - before) // (4096 + 24)


def test_an_append_within_a_slot_writes_the_message_its_index_and_the_row_and_no_more(
    ledger: Ledger,
) -> None:
    begun, slot = born(ledger), timedelta(microseconds=1 << 20)
    for number in range(3):
        say(ledger, begun, "to begin with", now=NOON + number * timedelta(microseconds=1))
    assert pages_written(ledger, partial(say, ledger, begun, "a", now=NOON)) == 3
    assert pages_written(ledger, partial(say, ledger, begun, "b", now=NOON + slot)) == 4
    assert pages_written(ledger, partial(say, ledger, begun, "c", now=NOON + slot)) == 3
    assert reread(ledger, begun).active_at == NOON + slot


def test_the_slot_of_a_session_follows_its_activity(ledger: Ledger) -> None:
    connection = connection_of(ledger)
    for number, moment in enumerate((NOON, at(1), at(-1), datetime(1969, 7, 20, tzinfo=UTC))):
        begun = born(ledger, f"{number}")
        say(ledger, begun, "a", now=moment)
        found = connection.execute(
            "SELECT active_at >> 20 = active_slot FROM sessions WHERE ref = ?", (begun.ref,)
        )
        assert found.fetchall() == [(1,)]
