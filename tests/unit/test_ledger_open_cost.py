"""Do questions about open sessions cost what is open, however much has ended?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest

from sexton.core.session import State
from sexton.sessions.model import Filter
from sexton.store.ledger import Ledger
from sexton.store.opening import open_ledger
from sexton.store.statements import statements
from tests.crash.checking import tell

OPEN = 30
QUESTIONS: dict[str, Callable[[Ledger], list[Any]]] = {
    "open": lambda ledger: ledger.index.open("native", None, 10),
    "page": lambda ledger: ledger.index.page(Filter(state=State.OPEN), None, 10),
}


def populate(url: str, ended: int) -> None:
    """Sessions of which the oldest few are open."""
    tell(
        url,
        f"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {OPEN + ended})"
        " INSERT INTO sessions (home, id, source, state, started_at, active_at, ended_at)"
        f" SELECT 1, 's' || i, 'cli', CASE WHEN i <= {OPEN} THEN 'open' ELSE 'ended' END,"
        f" at, at, CASE WHEN i <= {OPEN} THEN NULL ELSE at END"
        " FROM (SELECT i, CAST(5000000 AS BIGINT) * i AS at FROM n) AS moments",
    )


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The steps of SQLite's machine that each statement takes."""
    steps: list[int] = []

    def finished(event: dict[str, Any]) -> None:
        steps.append(event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"])

    def watch(connection: apsw.Connection) -> None:
        connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, finished)

    with monkeypatch.context() as patch:
        patch.setattr(apsw, "connection_hooks", [*apsw.connection_hooks, watch])
        yield steps


@pytest.mark.parametrize("question", QUESTIONS)
def test_on_sqlite_a_hundred_times_as_many_ended_sessions_cost_nothing(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    costs = []
    for ended in (200, 20_000):
        url = f"sqlite:///{tmp_path_factory.mktemp('ledger') / 'ledger.db'}"
        open_ledger(url).close()
        populate(url, ended)
        with counted(monkeypatch) as steps, closing(open_ledger(url)) as ledger:
            steps.clear()
            assert len(QUESTIONS[question](ledger)) == 10
            costs.append(sum(steps))
    assert 0 < costs[1] < 2 * costs[0]


def test_the_files_of_migrations_are_read_for_a_ledger_that_lacks_them_only(
    new_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, read = open, list[str]()

    def noting(file: Any, *arguments: Any, **options: Any) -> Any:
        if "migrations" in str(file):
            read.append(str(file))
        return opened(file, *arguments, **options)

    monkeypatch.setattr("builtins.open", noting)
    open_ledger(str(new_file)).close()
    assert read == []
    open_ledger(str(tmp_path / "missing.db")).close()
    assert read


def visited(plan: dict[str, Any]) -> int:
    """How many rows of sessions a plan has looked at."""
    own = 0
    if plan.get("Relation Name") == "sessions":
        seen = plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)
        own = int(seen * plan["Actual Loops"])
    return own + sum(visited(each) for each in plan.get("Plans", ()))


@pytest.mark.parametrize("is_analyzed", [True, False])
def test_on_postgres_no_ended_session_is_looked_at(postgres_url: str, is_analyzed: bool) -> None:
    open_ledger(postgres_url).close()
    populate(postgres_url, 20_000)
    values: dict[str, dict[str, Any]] = {
        "open_by_id": {"home": "native", "id": "", "ref": 0, "limit": 500},
        "page_open": {
            "home": 1,
            "source": None,
            "key": None,
            "limit": 500,
            "active_at": 2**62,
            "ref": 2**62,
        },
    }
    with psycopg.connect(postgres_url, options="-c search_path=sexton") as connection:
        if is_analyzed:
            connection.execute("ANALYZE")
        for name, given in values.items():
            text = f"EXPLAIN (ANALYZE, FORMAT JSON) {statements('postgres')[name]}"
            row = connection.execute(text.encode(), given).fetchone()
            assert row is not None
            assert visited(row[0][0]["Plan"]) == OPEN, (name, row)
