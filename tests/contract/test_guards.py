"""Does the contract notice when a guard is missing from a statement?

Every condition of every statement is taken out, one at a time, and the contract must fail. What
it may survive is listed with the reason.
"""

from __future__ import annotations

import inspect
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import NamedTuple

import apsw
import pytest

from sexton.errors import LedgerBusy, LedgerError, SessionEnded, SextonError
from sexton.rules.rulebook import Rulebook, encode
from sexton.sessions.model import WorkerUnknown
from sexton.settings.settings_values import Settings
from sexton.store.ledger import Ledger
from sexton.store.opening import open_ledger
from sexton.store.sqlite import SqliteTransaction
from sexton.store.statements import statements
from sexton.wiring import Sexton
from tests.contract.ledger_contract import LedgerContract
from tests.contract.ledger_contract_samples import NOON, born
from tests.contract.ledger_contract_spending_samples import budget, granted
from tests.memory import memory

PATIENCE = 240.0
NOTICED = (
    AssertionError,
    SextonError,
    apsw.ConstraintError,
    ValueError,
    TypeError,
    LookupError,
    WorkerUnknown,
)
pytestmark = pytest.mark.slow
SLOW = (
    "any_text",
    "any_json",
    "hundred_thousand",
    "any_history",
    "ten_megabytes",
    "in_order_whatever",
)

EQUAL = {
    ("find_before", "s.state <> 'open'"): "names the index; a key has one open session, the newest",
    **{
        (name, "state = 'running'"): "a row has a worker exactly while it runs"
        for name in ("memoise", "finish_finalization", "put_back_finalization")
    },
    **{
        (name, "ref = :ref"): "finds the row; the id means the same one"
        for name in (
            "end_compressed",
            "find_readiness",
            "join_session",
            "lock_open",
            "mark_errored",
            "rest_session",
            "set_warned",
            "start_turn",
            "store_guard",
            "take_policies",
        )
    },
    ("reap_sessions", "sessions.ref = seen.ref"): "finds the row; the id means the same one",
    ("take_policies", "state = 'open'"): "the policies of an ended session are never asked for",
    ("started_by_day", "s.active_slot >= (CAST(:since AS BIGINT) >> 20)"): (
        "spares rows: what started since was active since"
    ),
    ("spent_since", "s.active_slot >= (CAST(:since AS BIGINT) >> 20)"): "names the index",
    ("join_session", "id = :id"): "lock_open has asked the same in the same transaction",
    ("join_session", "epoch = :epoch"): "lock_open has asked the same in the same transaction",
    ("join_session", "state = 'open'"): "lock_open has asked the same in the same transaction",
    ("lock_held", "worker = :worker"): "locks only; SQLite has one writer at a time anyway",
    ("end_with_owner", "state = 'open'"): "an ended session has no holders",
    ("mark_errored", "errored = 0"): "spares a write",
    ("table_sizes", "d.aggregate = TRUE"): "spares rows: the pages are summed up in any case",
    ("find_holders_of", "o.session IN (SELECT value FROM json_each(:refs))"): (
        "spares rows: each holder goes to its own session"
    ),
    ("count_inside", "s.vault IN (SELECT value FROM json_each(:refs))"): (
        "spares rows: each count goes to its own file"
    ),
    ("page_due", "s.due_at IS NOT NULL"): "names the index; NULL is never due",
    ("last_sweep", "swept_at IS NOT NULL"): "names the index; MAX passes over NULL",
    ("free_to_go", "s.ref IN (SELECT value FROM json_each(:refs))"): (
        "spares rows: only what was asked for is looked up"
    ),
    ("free_to_go", "NOT EXISTS (SELECT 1 FROM holders AS o WHERE o.session = s.ref)"): (
        "an ended session has no holders"
    ),
    ("bring_back", "COALESCE(sessions.vault, 0) = :vault"): (
        "still_inside has asked the same in the same transaction"
    ),
    ("purge_sessions", "state = 'trashed'"): "what is in a file of the trash is trashed",
    ("discard_sessions", "state = 'archived'"): "what is in an archive is archived",
    (
        "expire_archives",
        "COALESCE(expires_at, 0) <> COALESCE(made_at + CAST(:age AS BIGINT), 0)",
    ): "spares a write",
    **{
        (name, f"{column} IN (SELECT value FROM json_each(:refs))"): (
            "spares rows: only what was asked for is looked up"
        )
        for name, column in (("still_inside", "s.ref"), ("stored_finalizations", "session"))
    },
    ("move_sessions", "state IN ('ended', 'finalized')"): (
        "free_to_go has asked the same in the same transaction"
    ),
    ("expired_files", "v.expires_at IS NOT NULL"): "names the index; NULL is never over",
    ("contradict_shadow_reap", "contradicted_at IS NULL"): "only the number is ever shown",
    ("end_twins", "pid > 0"): "names the index; the pid that is asked for is a real one",
    ("forget_ended_processes", "ended_at IS NOT NULL"): "names the index; NULL is before nothing",
    ("name_taken", "name = :name"): "the search for a free name would never end",
    ("name_taken", "(host IS NULL OR path IS NULL OR host <> :host OR path <> :path)"): (
        "spares a search; a known home keeps its name in any case"
    ),
    **{
        (name, "s.ref > 0"): "names the index; every row has such a number"
        for name in (
            "biggest",
            "bound_active",
            "bound_started",
            "cohorts",
            "count_in_state",
            "count_silent",
            "few_of_source",
            "few_of_state",
            "live_among_many",
            "page_recent",
            "search_active",
            "search_started",
            "spent_since",
            "started_by_day",
        )
    },
    ("page_recent", "s.active_slot >= (CAST(:low AS BIGINT) >> 20)"): (
        "spares rows: what is below is found by page_open"
    ),
    ("live_holders", "o.session IN (SELECT value FROM json_each(:refs))"): (
        "spares rows: each holder goes to its own session"
    ),
    ("search_active", "s.active_at < :until"): "the walk along the activity begins there",
    **{
        ("search_few", f"(CAST(:{fact} AS TEXT) IS NULL OR s.{fact} = :{fact})"): (
            "few_of_source or few_of_state has asked the same in the same transaction"
        )
        for fact in ("source", "state")
    },
    ("search_size_open", "(CAST(:state AS TEXT) IS NULL OR s.state = :state)"): (
        "asked only if open ones or those of any state are looked for"
    ),
    ("open_counters", "TRUE"): "the grammar wants a WHERE before ON CONFLICT",
    (
        "take_slices",
        (
            "wish.most IS NULL OR wish.most >= wish.spent + wish.reserved + (\n"
            "    SELECT COALESCE(CAST(SUM(i.spent + i.reserved - i.added) AS BIGINT), 0)\n"
            "    FROM slices AS i\n    WHERE i.counter = wish.counter"
            " AND i.start >= wish.since AND i.start <= wish.ahead\n)"
        ),
    ): "take has asked the same in the same transaction, with the counters locked",
    ("search_size_open", "s.state = 'open'"): (
        "names the index; without it the engine refuses the statement"
    ),
    (
        "search_size_open",
        (
            "(CAST(:folded AS BIGINT) = 0 OR COALESCE(s.end_reason, '') <> 'compression'"
            " OR NOT EXISTS (\n      SELECT 1 FROM sessions AS child WHERE child.home = s.home"
            " AND child.parent = s.id AND child.inherited > 0\n  ))"
        ),
    ): "an open session has no end reason",
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
    ("declare_dead", "COALESCE(workers.dead_at, workers.left_at)", "workers.dead_at"),
    ("declare_dead", "COALESCE(workers.dead_at, workers.left_at)", "workers.left_at"),
    ("reap_sessions", "ended_at = sessions.active_at", "ended_at = sessions.started_at"),
    ("release_holders", "AND workers.dead_at IS NOT NULL", ""),
    ("claim_finalizations", "state = 'pending'", "1 = 1"),
    ("claim_finalizations", "home = h.ref", "1 = 1"),
    *(
        (name, guard, "1 = 1")
        for name in ("backfill", "count_backfill")
        for guard in ("dues.finalizer = :finalizer", "dues.ended_at >= :since", "dues.since = 0")
    ),
    ("backfill", "s.ref = dues.session", "1 = 1"),
    ("backfill", "younger.parent = s.id", "1 = 1"),
    ("backfill", "younger.inherited > 0", "1 = 1"),
    ("claim_finalizations", "finalizer = mine.value", "1 = 1"),
    ("claim_finalizations", "not_before <= :now", "1 = 1"),
    ("claim_finalizations", "h.host = w.host", "1 = 1"),
    ("claim_finalizations", "memo_host IS NULL OR ", ""),
    ("claim_finalizations", "memo_host = w.host OR ", ""),
    ("claim_finalizations", " OR not_before <= :given_up", ""),
    ("claim_finalizations", "s.state <> 'open'", "1 = 1"),
    ("claim_finalizations", "s.ref = session AND ", ""),
    ("claim_finalizations", "memo_host IS NOT NULL THEN", "memo_host IS NULL THEN"),
    ("claim_finalizations", "w.id = :worker", "1 = 1"),
    ("claim_finalizations", "w.left_at IS NULL", "1 = 1"),
    ("claim_finalizations", "w.dead_at IS NULL", "1 = 1"),
    ("claim_finalizations", "h.host IS NULL OR", ""),
    ("claim_finalizations", "    LIMIT :limit", ""),
    ("claim_finalizations", "ORDER BY ripe.value ->> 0", "ORDER BY -(ripe.value ->> 0)"),
    ("claim_finalizations", "claim = claim + 1", "claim = 1"),
    ("free_finalizations", "w.left_at IS NULL", "1 = 1"),
    ("free_finalizations", "w.dead_at IS NULL", "1 = 1"),
    ("free_finalizations", "not_before = :now", "not_before = not_before"),
    ("finish_finalization", "memo = NULL", "memo = memo"),
    ("discard_finalization", "memo = NULL", "memo = memo"),
    ("put_back_finalization", "attempts + :counted", "attempts"),
    ("put_back_finalization", "attempts + :counted", "attempts + 1"),
    ("finish_finalization", "attempts = attempts + 1", "attempts = attempts"),
    ("finish_finalization", "last_error = NULL", "last_error = last_error"),
    ("free_finalizations", "w.id = finalizations.worker AND w.dead_at IS NOT NULL", "1 = 1"),
    ("free_finalizations", " AND w.dead_at IS NOT NULL", ""),
    ("retry_finalization", "crashes = 0", "crashes = crashes"),
    ("retry_finalization", "attempts = 0", "attempts = attempts"),
    ("finalize_session", "'pending', 'running'", "'pending'"),
    ("finalize_session", "'pending', 'running'", "'running'"),
    ("end_compressed", "untold = CAST(:untold AS BIGINT)", "untold = NULL"),
    ("insert_shorter", "kept.messages + 1", "kept.messages"),
    ("insert_shorter", "kept.bytes + :size", "kept.bytes"),
    ("insert_shorter", "s.warned & 12", "s.warned"),
    ("insert_shorter", "s.warned & 12", "0"),
    ("insert_shorter", "WHERE session = :ref AND (seq", "WHERE (seq"),
    ("insert_shorter", "s.epoch", "1"),
    ("cover_copies", "MAX(through) >= :through", "MAX(through) > :through"),
    ("find_tip", " AND child.inherited > 0", ""),
    ("find_tip", " WHERE place > 0", ""),
    ("find_chain", "WHERE chain.relation = 'compression'", ""),
    ("claim_letters", "w.id = :worker AND ", ""),
    ("claim_letters", "w.left_at IS NULL", "1 = 1"),
    ("claim_letters", "w.dead_at IS NULL", "1 = 1"),
    ("claim_letters", "n.state = 'pending'", "n.state <> 'sending'"),
    ("claim_letters", "n.state = 'pending'", "1 = 1"),
    ("claim_letters", "n.target = :target", "1 = 1"),
    ("claim_letters", "n.not_before <= :now", "1 = 1"),
    ("claim_letters", "LIMIT :limit", ""),
    ("claim_letters", "ORDER BY n.not_before", "ORDER BY -n.not_before"),
    ("claim_letters", "claim = claim + 1", "claim = 1"),
    ("claim_letters", "attempts = attempts + 1", "attempts = 1"),
    ("post_notice", "ON CONFLICT DO NOTHING", "ON CONFLICT DO UPDATE SET text = excluded.text"),
    ("free_letters", "worker = :worker\n       OR", ""),
    ("free_letters", "w.left_at IS NULL", "1 = 1"),
    ("free_letters", "w.dead_at IS NULL", "1 = 1"),
    ("free_letters", "w.id = outbox.worker", "1 = 1"),
    ("free_letters", "not_before = :now", "not_before = not_before"),
    ("put_back_letter", "finished_at = :finished", "finished_at = NULL"),
    ("register_process", "COALESCE(excluded.tag, processes.tag)", "excluded.tag"),
    ("register_process", "COALESCE(excluded.tag, processes.tag)", "processes.tag"),
    ("register_process", "judged_at = NULL", "judged_at = judged_at"),
    ("forget_lost_processes", "COALESCE(judged_at, started_at)", "started_at"),
    ("remember_held", "ON CONFLICT DO NOTHING", "ON CONFLICT DO UPDATE SET since = excluded.since"),
    ("caps_of", "scope = 'session' AND ", ""),
    ("caps_of", "scope = 'tree' AND ", ""),
    ("caps_of", "scope = 'source' AND ", ""),
    ("caps_of", "scope = 'session' AND subject = :session", "1 = 0"),
    ("caps_of", "scope = 'tree' AND subject = :root", "1 = 0"),
    ("caps_of", "scope = 'source' AND subject = :source", "1 = 0"),
    ("open_counters", "used_at = excluded.used_at", "used_at = counters.used_at"),
    ("sum_slices", "i.spent + i.reserved > 0", "1 = 1"),
    ("fenced_caps", "scope = 'session' AND subject = :session", "1 = 0"),
    ("fenced_caps", "LEFT JOIN", "JOIN"),
    ("find_standing", "i.spent + i.reserved > 0", "1 = 1"),
    ("find_standing", "i.start >= :since", "1 = 1"),
    ("find_standing", "i.start <= :ahead", "1 = 1"),
    ("find_standing", "i.counter = c.ref AND ", ""),
    ("take_slices", "slices.reserved + excluded.reserved", "excluded.reserved"),
    ("take_slices", "slices.spent + excluded.spent", "excluded.spent"),
    ("settle_slice", "slices.spent + excluded.spent", "excluded.spent"),
    ("free_grants", "w.left_at IS NULL", "1 = 1"),
    ("free_grants", "w.dead_at IS NULL", "1 = 1"),
    ("free_grants", "w.id = grants.worker", "1 = 1"),
    ("mark_warned", "warned_at < :before", "1 = 0"),
    ("mark_warned", "warned < :most", "1 = 0"),
    ("mark_stopped", "stopped_at < :before", "1 = 0"),
    ("clear_marks", "stopped_at = NULL", "stopped_at = stopped_at"),
    ("clear_marks", "warned_at = NULL", "warned_at = warned_at"),
    ("add_slice", "slices.added + excluded.added", "excluded.added"),
    ("find_root", "CASE WHEN relation IN ('subagent', 'compression') THEN parent END", "parent"),
    ("page_remains", "o.home = s.home", "1 = 1"),
    ("page_remains", "o.job = s.job", "1 = 1"),
    ("page_remains", "o.key = s.key", "1 = 1"),
    ("page_remains", "o.state IN ('ended', 'finalized')", "1 = 1"),
    ("page_remains", "(o.active_at, o.ref) > (s.active_at, s.ref)", "1 = 1"),
    ("page_remains", "(o.active_at, o.ref) > (s.active_at, s.ref)", "o.active_at > s.active_at"),
    ("page_remains", "LIMIT :among", ""),
    ("page_remains", "f.session = s.ref", "1 = 1"),
    ("page_remains", "'pending', 'running'", "'pending'"),
    ("page_remains", "'pending', 'running'", "'running'"),
    ("sources_over", "s.state IN ('ended', 'finalized')", "1 = 1"),
    ("sources_over", "s.home = (SELECT ref FROM homes WHERE name = :home)", "1 = 1"),
    ("forget_journal", "j.at < :before", "1 = 1"),
    ("forget_journal", "ORDER BY j.at", "ORDER BY j.ref"),
    ("forget_journal", "LIMIT :limit", ""),
    ("free_to_go", "'pending', 'running'", "'pending'"),
    ("free_to_go", "'pending', 'running'", "'running'"),
    ("free_to_go", "WHERE f.session = s.ref\n", "WHERE 1 = 1\n"),
    ("free_to_go", " AND f.finished_at > :spares", ""),
    ("free_to_go", " OR f.state = 'dead' AND f.finished_at > :spares", ""),
    ("doom_file", "s.pinned = 1", "0"),
    ("doom_file", "s.ref IN (SELECT value FROM json_each(:refs))", "1 = 1"),
    ("doom_file", "'pending', 'running'", "'pending'"),
    ("doom_file", "'pending', 'running'", "'running'"),
    ("doom_file", " AND f.finished_at > :spares", ""),
    ("doom_file", " OR f.state = 'dead' AND f.finished_at > :spares", ""),
    ("discard_file", "kind = 'archive'", "1 = 1"),
    ("discard_file", "s.pinned = 1", "1 = 1"),
    ("discard_file", "s.ref IN (SELECT value FROM json_each(:refs))", "1 = 1"),
    ("discard_sessions", "vault = :vault", "1 = 1"),
    ("expire_archives", "kind = 'archive'", "1 = 1"),
    ("purge_sessions", "title = NULL", "title = title"),
    ("purge_sessions", "preview = NULL", "preview = preview"),
    ("clear_messages", "s.vault = :vault AND ", ""),
    ("clear_messages", " AND s.ref IN (SELECT value FROM json_each(:refs))", ""),
    ("clear_some_messages", "s.vault = :vault AND ", ""),
    ("clear_some_messages", "s.ref = :session AND ", ""),
    ("clear_some_messages", "LIMIT :limit", ""),
    ("insert_stored", "ON CONFLICT (session, seq) DO NOTHING", ""),
    ("count_removed", "removal_days.sessions + excluded.sessions", "excluded.sessions"),
    ("forget_file", "s.vault = vault.ref", "0"),
    ("counts_present", "AND s.state IN ('ended', 'finalized') AND", "AND"),
    ("counts_present", "s.home = :home AND s.state IN", "s.state IN"),
    *(
        (name, guard, "1 = 1")
        for name in ("search_few", "search_active", "search_started", "search_size")
        for guard in ("child.home = s.home", "child.parent = s.id", "child.inherited > 0")
    ),
    ("oldest_work", "'pending', 'running'", "'pending'"),
    ("oldest_work", "'pending', 'running'", "'running'"),
    ("oldest_work", "MIN(f.owed_at)", "MAX(f.owed_at)"),
    ("turn_file", "COALESCE(worker, '') = COALESCE(CAST(:worker AS TEXT), '')", "1 = 1"),
)

CLAUSES = r"[();]|\b(WHERE|AND|ON CONFLICT|DO|ORDER BY|GROUP BY|RETURNING|LIMIT)\b"


class Mutant(NamedTuple):
    """A statement without one of its guards."""

    name: str
    guard: str
    text: str


def conditions(text: str) -> Iterator[tuple[int, int]]:
    """Where each condition of a statement's own WHERE begins and ends.

    The WHERE between ON CONFLICT and DO names an index. It guards nothing.
    """
    depth, begin, names_index = 0, None, False
    for word in re.finditer(CLAUSES, text):
        if word[0] in "()":
            depth += 1 if word[0] == "(" else -1
        elif depth == 0:
            if begin is not None:
                yield begin, word.start()
            if word[0] in ("ON CONFLICT", "DO"):
                names_index = word[0] == "ON CONFLICT"
            goes_on = word[0] == "WHERE" or (word[0] == "AND" and begin is not None)
            begin = word.end() if goes_on and not names_index else None


def guards() -> Iterator[Mutant]:
    """Every statement without each of its conditions, and changed where more can go wrong."""
    for name, text in statements("sqlite").items():
        for begin, end in conditions(text):
            yield Mutant(name, text[begin:end].strip(), f"{text[:begin]} 1 = 1 {text[end:]}")
    for name, old, new in FURTHER:
        text = statements("sqlite")[name]
        assert old in text
        yield Mutant(name, f"{old} => {new}", text.replace(old, new))


class Recorder(dict[str, str]):
    """The statements, and which of them were asked for."""

    def __init__(self) -> None:
        super().__init__(statements("sqlite"))
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return super().__getitem__(name)


class Promise(NamedTuple):
    """A test of the contract, what it took and which statements it used."""

    test: Callable[[Ledger], None]
    seconds: float
    used: set[str]


PARTS = ("backlog", "verdicts")
"""What only stands within other statements: its guards are missing there, one by one."""

MUTANTS = [
    mutant
    for mutant in guards()
    if mutant.name not in PARTS and (mutant.name, mutant.guard) not in EQUAL
]


def is_noticed(test: Callable[[Ledger], None], url: str) -> bool:
    """Whether a test of the contract fails on a fresh ledger, for what it found in there."""
    try:
        run(test, url)
    except LedgerError:  # which a busy machine raises as well, so it proves nothing
        return False
    except NOTICED:
        return True
    except pytest.fail.Exception as failed:  # a test that waits in vain is not one that notices
        return not str(failed).startswith("Timeout")
    return False


def prepare(mutant: Mutant, path: str) -> None:
    """Let the engine prepare a mutant: one that it refuses would be noticed by every test."""
    parameters = dict.fromkeys(re.findall(r":(\w+)", mutant.text))
    with closing(apsw.Connection(path)) as connection:
        connection.execute(f"EXPLAIN {mutant.text}", parameters).fetchall()


def run(test: Callable[[Ledger], None], url: str) -> None:
    """Run a test of the contract on a fresh ledger."""
    with closing(open_ledger(url, patience=PATIENCE)) as ledger:
        test(ledger)


@pytest.fixture(scope="module")
def new_ledger() -> Iterator[Callable[[], str]]:
    """Makes copies of an empty ledger, in memory where there is some: the disk is not tested."""
    with tempfile.TemporaryDirectory(dir=memory()) as place:
        empty = Path(place, "empty.db")
        open_ledger(str(empty)).close()
        numbers = count()

        def new() -> str:
            for former in Path(place).glob("[0-9]*"):  # memory is short, and others need some
                shutil.rmtree(former)
            folder = Path(place, f"{next(numbers)}")
            folder.mkdir()
            return str(shutil.copy(empty, folder / "ledger.db"))

        yield new


@pytest.fixture(scope="module")
def promises(new_ledger: Callable[[], str]) -> list[Promise]:
    """The quick tests of the contract, the quickest first; each is run once to know it."""
    known = []
    for name, test in inspect.getmembers(LedgerContract(), inspect.ismethod):
        if "races" in test.__func__.__module__ or any(word in name for word in SLOW):
            continue
        recorder, began = Recorder(), time.perf_counter()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(SqliteTransaction, "_text", recorder)
            run(test, new_ledger())
        known.append(Promise(test, time.perf_counter() - began, recorder.asked))
    return sorted(known, key=lambda promise: promise.seconds)


@pytest.mark.parametrize("name", sorted({mutant.name for mutant in MUTANTS}))
def test_the_contract_notices_every_guard_that_is_missing(
    name: str,
    promises: list[Promise],
    new_ledger: Callable[[], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tests = [promise.test for promise in promises if name in promise.used]
    survivors = []
    for mutant in (mutant for mutant in MUTANTS if mutant.name == name):
        prepare(mutant, new_ledger())
        monkeypatch.setitem(statements("sqlite"), name, mutant.text)
        for test in tests:
            if is_noticed(test, new_ledger()):
                tests.remove(test)
                tests.insert(0, test)  # it may notice the next one, too
                break
        else:
            survivors.append(mutant.guard)
    assert survivors == []


def test_sums_that_disagree_are_not_asked_for_ever(
    new_ledger: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = statements("sqlite")["take_slices"].replace("RETURNING", "WHERE 0 RETURNING")
    monkeypatch.setitem(statements("sqlite"), "take_slices", nothing)
    with closing(open_ledger(new_ledger())) as ledger:
        session = born(ledger)
        granted(ledger, session, budget(), input_tokens=1)
        with pytest.raises(LedgerBusy):
            granted(ledger, session, budget(), input_tokens=1)


def test_policies_that_never_come_into_force_are_not_published_for_ever(
    new_ledger: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = statements("sqlite")["publish_policies"].replace("NOT EXISTS", "0 AND EXISTS")
    monkeypatch.setitem(statements("sqlite"), "publish_policies", nothing)
    with closing(open_ledger(new_ledger())) as ledger, pytest.raises(LedgerBusy):
        ledger.policies.publish("digest", encode(Rulebook()), "anna", NOON)


def test_a_conversation_that_goes_on_in_itself_is_not_followed_for_ever(
    new_ledger: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    house = Sexton(open_ledger(new_ledger()), Settings())
    with closing(house), house.worker() as worker:
        session = worker.session("talk")
        assert session.end("done")
        itself = statements("sqlite")["find_tip"].replace("WHERE place > 0", "")
        monkeypatch.setitem(statements("sqlite"), "find_tip", itself)
        with pytest.raises(SessionEnded):
            session.append(role="user", content="late")
        with pytest.raises(SessionEnded):
            session.turn().__enter__()


def test_every_excuse_is_about_a_guard_that_exists() -> None:
    assert set(EQUAL) <= {(mutant.name, mutant.guard) for mutant in guards()}
