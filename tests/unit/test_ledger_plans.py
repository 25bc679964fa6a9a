"""Does every statement find its rows by an index?"""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from sexton.sessions.board import steps_within
from sexton.store.sqlite import SqliteDatabase
from sexton.store.sqlite_file import open_reader, open_writer
from sexton.store.statements import ROW, statements

LARGE = (
    *("sessions", "messages", "journal", "holders", "finalizations", "processes"),
    *("counters", "slices", "grants", "vault"),
)
PARAMETER = re.compile(r"(?<!:):([a-z_]+)")
WHOLE = {
    "chain": "only a part of other statements",
    "searched": "only a part of other statements",
    "listed": "only a part of other statements",
    "table_sizes": "goes through the schema, which is small",
    "finalization": "only a part of other statements",
    "new_ref": "only a part of other statements",
    "process": "only a part of other statements",
    "remains": "only a part of other statements",
    "member": "only a part of other statements",
    "vault_file": "only a part of other statements",
    "verdicts": "only a part of other statements",
    "expire_archives": "once in the life of a keeper, as settings may have changed before it",
}


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> apsw.Connection:
    path = tmp_path_factory.mktemp("plans") / "ledger.db"
    SqliteDatabase(path).close()
    return apsw.Connection(str(path))


def scans(connection: apsw.Connection, name: str) -> list[str]:
    """The steps of a statement's plan that go through a whole large table."""
    text = statements("sqlite")[name]
    values = dict.fromkeys(PARAMETER.findall(text), "text")
    steps = connection.execute(f"EXPLAIN QUERY PLAN {text}", values).fetchall()
    tables = {f"SCAN {alias}" for alias in (*LARGE, "s", "o", "f", "p", "m", "v")}
    return [step for *_, step in steps if step in tables]


@pytest.mark.parametrize("name", sorted(statements("sqlite").keys() - WHOLE.keys()))
def test_no_statement_goes_through_a_whole_table(connection: apsw.Connection, name: str) -> None:
    assert scans(connection, name) == []


def test_a_statement_that_would_is_noticed(connection: apsw.Connection) -> None:
    assert scans(connection, "process")


def test_no_join_is_planned_anew_for_each_set_of_values(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.db")
    for opened in (open_writer(path, 1.0), open_reader(path, 1.0)):
        with closing(opened):
            assert opened.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, -1) == 1


def test_a_row_is_put_away_with_every_column(connection: apsw.Connection) -> None:
    found = connection.execute("SELECT name FROM pragma_table_info('sessions')").fetchall()
    assert sorted(ROW) == sorted(str(name) for (name,) in found)


def test_garbage_is_found_by_its_size_and_age(connection: apsw.Connection) -> None:
    for name in ("page_candidates", "counts_present"):
        text = statements("sqlite")[name]
        values = dict.fromkeys(PARAMETER.findall(text), 1)
        steps = connection.execute(f"EXPLAIN QUERY PLAN {text}", values).fetchall()
        found = [str(step) for *_, step in steps if str(step).startswith("SEARCH s ")]
        assert found
        assert all("USING INDEX sessions_over (home=?" in step for step in found)


def test_what_is_open_is_sorted_by_size_without_a_look_at_the_rest(
    connection: apsw.Connection,
) -> None:
    text = statements("sqlite")["search_size_open"]
    values = dict.fromkeys(PARAMETER.findall(text), 1)
    steps = connection.execute(f"EXPLAIN QUERY PLAN {text}", values).fetchall()
    assert any("SEARCH s USING INDEX sessions_open (home=?)" in str(step) for *_, step in steps)


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("find_tip", "SEARCH child USING INDEX sessions_parent (home=? AND parent=?)"),
        ("count_silent", "SEARCH s USING INDEX sessions_states (home=? AND state=? AND source=?"),
        ("page_recent", "SEARCH s USING INDEX sessions_recent (home=? AND active_slot>? AND "),
        ("open_by_id", "SEARCH s USING INDEX sessions_open (home=? AND id>?)"),
        ("page_recent", "USE TEMP B-TREE FOR LAST 2 TERMS OF ORDER BY"),
        ("bound_active", "SEARCH s USING INDEX sessions_recent (home=? AND active_slot<?)"),
    ],
)
def test_what_is_asked_often_is_found_where_it_is(
    connection: apsw.Connection, name: str, step: str
) -> None:
    text = statements("sqlite")[name]
    values = dict.fromkeys(PARAMETER.findall(text), 1)
    steps = connection.execute(f"EXPLAIN QUERY PLAN {text}", values).fetchall()
    assert any(str(each).startswith(step) for *_, each in steps)


@pytest.mark.parametrize(
    ("most", "steps"),
    [(60_000, [250, 1000, 4000, 16_000, 38_750]), (6000, [250, 1000, 4000, 750]), (0, [1])],
)
def test_a_search_through_many_homes_looks_at_no_more_than_one_through_a_single_one(
    most: int, steps: list[int]
) -> None:
    assert list(steps_within(most)) == steps
