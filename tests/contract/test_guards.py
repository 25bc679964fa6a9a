"""Does the contract notice when a guard is missing from a statement?

Every condition of every statement is taken out, one at a time, and the contract must fail. What
it may survive is listed with the reason.
"""

from __future__ import annotations

import inspect
import re
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import psycopg
import pytest

from sexton.errors import SextonError
from sexton.ledger.opening import open_ledger
from sexton.ledger.statements import statements
from sexton.ports import Ledger
from sexton.testing.ledger_contract import LedgerContract

NOTICED = (
    AssertionError,
    SextonError,
    apsw.Error,
    psycopg.Error,
    ValueError,
    TypeError,
    IndexError,
)
SLOW = (
    "any_text",
    "any_json",
    "hundred_thousand",
    "any_history",
    "ten_megabytes",
    "in_order_whatever",
)

EQUAL = {
    ("join_session", "epoch = :epoch"): "lock_open has asked the same in the same transaction",
    ("join_session", "state = 'open'"): "lock_open has asked the same in the same transaction",
    ("lock_held", "worker = :worker"): "locks only; SQLite has one writer at a time anyway",
    ("end_with_owner", "state = 'open'"): "an ended session has no holders",
    ("mark_errored", "errored = 0"): "spares a write",
    ("find_holders_of", "o.session IN (SELECT value FROM json_each(:refs))"): (
        "spares rows: each holder goes to its own session"
    ),
    ("page_due", "s.due_at IS NOT NULL"): "names the index; NULL is never due",
    ("last_sweep", "swept_at IS NOT NULL"): "names the index; MAX passes over NULL",
    ("revive_session", "state = 'ended'"): "only ended sessions have such a reason",
    ("contradict_shadow_reap", "contradicted_at IS NULL"): "only the number is ever shown",
    ("name_taken", "name = :name"): "the search for a free name would never end",
    ("name_taken", "(host IS NULL OR path IS NULL OR host <> :host OR path <> :path)"): (
        "spares a search; a known home keeps its name in any case"
    ),
}

FURTHER = (
    ("append_guard", "active_at     = :now", "active_at     = active_at"),
    ("append_guard", "turn_count >= :at_turns", "0"),
    ("append_guard", "COALESCE(preview, :preview)", ":preview"),
    ("append_guard", "human_touched | :human", ":human"),
    ("append_guard", "message_count + :count >= :at_messages", "0"),
    ("append_guard", "byte_count + :bytes >= :at_bytes", "0"),
    ("join_session", "THEN 0 ELSE 1", "THEN 0 ELSE 0"),
    ("join_session", "THEN 0 ELSE 1", "THEN 1 ELSE 1"),
    ("start_turn", "turn_count + 1 >= :at_turns", "0"),
    ("mark_busy", "COALESCE(holders.busy_since, excluded.busy_since)", "excluded.busy_since"),
    ("clear_busy", "turns > 1", "0"),
    ("find_by_id", "s.id = :id", "1 = 1"),
    ("find_by_prefix", "s.id >= :first", "1 = 1"),
    ("find_by_prefix", "s.id < :after", "1 = 1"),
    ("find_holders", "w.id = o.worker", "1 = 1"),
    ("set_warned", "warned | :limit", ":limit"),
    ("attach_home", "act = excluded.act", "act = homes.act"),
)

RACING = (
    ("append_messages", " AND epoch = %(epoch)s", "a_write_with_another_epoch"),
    ("append_messages", " AND state = 'open'", "a_write_to_an_ended"),
    ("lock_held", "FOR UPDATE", "two_last_holders"),
    ("publish_policies", "HAVING NOT EXISTS", "policies_published_by_many"),
    ("end_fenced", " AND state = 'open'", "a_session_is_ended_once"),
)


ATTEMPTS = 4

SESSIONS = {
    "find_current", "find_by_ref", "drop_holders", "end_as_seen", "end_fenced", "start_turn",
    "mark_busy", "clear_busy", "mark_errored", "mark_pinned", "mark_title",
}  # fmt: skip


class Mutant(NamedTuple):
    """A statement without one of its guards."""

    name: str
    guard: str
    text: str


def conditions(text: str) -> Iterator[tuple[int, int]]:
    """Where each condition of a statement's own WHERE begins and ends."""
    depth, begin = 0, None
    for word in re.finditer(r"[();]|\b(WHERE|AND|ORDER BY|GROUP BY|RETURNING|LIMIT)\b", text):
        if word[0] in "()":
            depth += 1 if word[0] == "(" else -1
        elif depth == 0:
            if begin is not None:
                yield begin, word.start()
            goes_on = word[0] == "WHERE" or (word[0] == "AND" and begin is not None)
            begin = word.end() if goes_on else None


def guards() -> Iterator[Mutant]:
    """Every statement without each of its conditions, and changed where more can go wrong."""
    for name, text in statements("sqlite").items():
        for begin, end in conditions(text):
            yield Mutant(name, text[begin:end].strip(), f"{text[:begin]} 1 = 1 {text[end:]}")
    for name, old, new in FURTHER:
        text = statements("sqlite")[name]
        assert old in text
        yield Mutant(name, f"{old} => {new}", text.replace(old, new))


def promises(hint: str) -> list[Any]:
    """The quick tests of the contract, those with the hint in their module's name first."""
    tests = inspect.getmembers(LedgerContract(), inspect.ismethod)
    quick = [test for name, test in tests if not any(word in name for word in SLOW)]
    quick = [test for test in quick if "races" not in test.__func__.__module__]
    return sorted(
        quick, key=lambda test: (hint not in test.__func__.__module__, "pages" in str(test))
    )


def is_noticed(promise: Callable[[Ledger], None], url: str) -> bool:
    """Whether a test of the contract fails on a fresh ledger."""
    ledger = open_ledger(url)
    try:
        promise(ledger)
    except NOTICED:
        return True
    finally:
        ledger.close()
    return False


HINTS = {
    "page_messages": "messages", "page_sizes": "messages", "append_guard": "messages",
    "page_recent": "index", "page_due": "index", "page_stale": "index", "reschedule": "index",
    "set_warned": "index", "tally": "index", "find_by_id": "index", "find_by_prefix": "index",
    "join_session": "holders", "lock_open": "holders", "end_with_owner": "holders",
    "beat": "liveness", "sessions_of_worker": "liveness", "confirm_dead": "liveness",
    "reap_session": "liveness", "release_holder": "liveness", "declare_dead": "liveness",
    "dead_and_holding": "liveness", "make_progress": "liveness", "revive_session": "reviving",
    "drop_holder": "holders", "drop_all_of_worker": "holders", "find_holders": "holders",
}  # fmt: skip
MUTANTS = [mutant for mutant in guards() if (mutant.name, mutant.guard) not in EQUAL]


@pytest.fixture
def quick_path(tmp_path: Path) -> Iterator[Path]:
    """A directory in memory where there is one: what is tested here is not the disk."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else tmp_path) as place:
        yield Path(place)


@pytest.mark.parametrize("name", sorted({mutant.name for mutant in MUTANTS}))
def test_the_contract_notices_every_guard_that_is_missing(
    name: str, quick_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hint = HINTS.get(name) or ("sessions" if name in SESSIONS else "upkeep")
    survivors = []
    for number, mutant in enumerate(mutant for mutant in MUTANTS if mutant.name == name):
        monkeypatch.setitem(statements("sqlite"), name, mutant.text)
        urls = (f"sqlite:///{quick_path}/{number}.{turn}.db" for turn in count())
        if not any(map(is_noticed, promises(hint), urls)):
            survivors.append(mutant.guard)
    assert survivors == []


@pytest.mark.parametrize(("name", "guard", "promise"), RACING)
def test_the_contract_notices_a_missing_guard_against_races(
    name: str, guard: str, promise: str, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = statements("postgres")[name]
    assert guard in text
    monkeypatch.setitem(statements("postgres"), name, _without(text, guard))
    [test] = [test for each, test in inspect.getmembers(LedgerContract()) if promise in each]
    for _ in range(ATTEMPTS):
        if is_noticed(test, postgres_url):
            return
        with psycopg.connect(postgres_url) as connection:
            connection.execute("DROP SCHEMA sexton CASCADE")
    raise AssertionError(f"{promise} passes without {guard}")


def test_every_excuse_is_about_a_guard_that_exists() -> None:
    assert set(EQUAL) <= {(mutant.name, mutant.guard) for mutant in guards()}


def _without(text: str, guard: str) -> str:
    if guard == "HAVING NOT EXISTS":
        return re.sub(r"HAVING .*?(?=ON CONFLICT)", "", text, flags=re.DOTALL)
    return "SELECT 1" if guard.startswith("LOCK") else text.replace(guard, "")
