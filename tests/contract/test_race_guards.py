"""Does the contract notice when a statement of PostgreSQL lacks its guard against races?"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import closing

import psycopg
import pytest

from sexton.errors import LedgerError
from sexton.store.ledger import Ledger
from sexton.store.opening import open_ledger
from sexton.store.statements import statements
from tests.contract.ledger_contract import LedgerContract
from tests.contract.rendezvous import NEVER_CUT, PATIENCE, Rendezvous

pytestmark = pytest.mark.slow

RACING = (
    # A statement, its guard, the promise that needs it, and after which statement the jobs stop.
    ("lock_sessions", " FOR UPDATE", "the_last_two_that_finish_together", "lock_sessions"),
    (
        "spend_calls",
        "WHERE finalizer_days.calls + excluded.calls <= %(most)s",
        "a_budget_is_never_exceeded",
        "spend_calls",
    ),
    ("lock_counters", "FOR UPDATE OF c", "clocks_that_differ_by_a_slice", "lock_counters"),
    ("append_messages", " AND epoch = %(epoch)s", "a_write_with_another_epoch", "append_messages"),
    ("append_messages", " AND id = %(id)s", "whoever_means_another_session", "append_messages"),
    (
        "append_messages",
        " AND last_seq >= %(seen)s",
        "a_writer_that_has_seen_more",
        "append_messages",
    ),
    ("append_messages", " AND state = 'open'", "a_write_to_an_ended", "append_messages"),
    ("lock_held", "FOR UPDATE", "two_last_holders", "lock_held"),
    ("publish_policies", "HAVING NOT EXISTS", "policies_published_by_many", "policies_in_force"),
    ("end_fenced", " AND state = 'open'", "a_session_is_ended_once", "end_fenced"),
    ("lock_sessions", " FOR UPDATE", "whoever_joins_while_a_session_is_reaped", "lock_sessions"),
    ("lock_workers", " FOR NO KEY UPDATE", "a_beat_and_a_reap_agree", "confirm_dead"),
    ("lock_sessions", " FOR UPDATE", "work_that_is_owed_at_the_same_moment", "lock_sessions"),
    ("lock_sessions", " FOR UPDATE", "a_pin_that_comes_with_a_compression", "lock_sessions"),
    ("lock_sessions", " FOR UPDATE", "work_is_taken_up_again_or_its_session", "lock_sessions"),
)


@pytest.fixture
def watcher(postgres_url: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        yield connection


@pytest.mark.parametrize(("name", "guard", "promise", "stop"), RACING)
def test_the_contract_notices_a_missing_guard_against_races(
    name: str,
    guard: str,
    promise: str,
    stop: str,
    postgres_url: str,
    watcher: psycopg.Connection[tuple[object, ...]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    [test] = [test for each, test in inspect.getmembers(LedgerContract()) if promise in each]
    text = statements("postgres")[name]
    assert guard in text
    for is_guarded in True, False:
        with pytest.MonkeyPatch.context() as patch:
            Rendezvous(watcher, stop).install(patch, sys.modules[test.__func__.__module__])
            if not is_guarded:
                patch.setitem(statements("postgres"), name, _without(text, guard))
            assert holds(test, postgres_url) == is_guarded
        watcher.execute("DROP SCHEMA sexton CASCADE")


def holds(test: Callable[[Ledger], None], url: str) -> bool:
    """Whether a promise holds; a statement that the engine refuses is an error of this test."""
    sign = "&" if "?" in url else "?"
    with closing(open_ledger(f"{url}{sign}{NEVER_CUT}", patience=PATIENCE)) as ledger:
        try:
            test(ledger)
        except LedgerError:
            raise
        except (AssertionError, ValueError):
            return False
        return True


def _without(text: str, guard: str) -> str:
    if guard == "HAVING NOT EXISTS":
        return re.sub(r"HAVING .*?(?=ON CONFLICT)", "", text, flags=re.DOTALL)
    return text.replace(guard, "")
