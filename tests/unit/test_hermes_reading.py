"""Reading a foreign database: what is torn is read again, what takes too many steps is given up."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexton.core.session import Session, check_name
from sexton.errors import HomeUnknown, HomeUnreadable
from sexton.homes.hermes.hermes_database import ATTEMPTS, read
from sexton.homes.hermes.home import HermesHome
from sexton.testing import ManualClock
from tests.contract.examples import examples
from tests.contract.home_contract import Notebook
from tests.golden import golden

SESSION_COLUMNS = (
    "id", "source", "session_key", "chat_type", "parent_session_id", "model_config", "started_at",
    "ended_at", "end_reason", "last_activity_at", "input_tokens", "output_tokens",
    "cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "estimated_cost_usd",
    "actual_cost_usd", "title", "archived", "pinned",
)  # fmt: skip
MESSAGE_COLUMNS = ("session_id", "role", "content", "timestamp")
USAGE_COLUMNS = (
    "session_id", "task", "last_seen", "input_tokens", "estimated_cost_usd", "actual_cost_usd",
)  # fmt: skip

# Raw bytes become text that need not be UTF-8, which SQLite stores as it is given.
anything = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    st.sampled_from(
        ['{"_delegate_from": 1}', '{"_branched_from": null}', "cron_a_20260101_120000"]
    ),
    st.binary(max_size=8),
    st.binary(max_size=8).map(lambda raw: ("text", raw)),
)


def row_of(columns: tuple[str, ...]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.tuples(*(anything for _ in columns))


def make(database: Path, *statements: str) -> apsw.Connection:
    writer = apsw.Connection(str(database))
    writer.pragma("journal_mode", "wal")
    for statement in statements:
        writer.execute(statement)
    return writer


def count(db: apsw.Connection) -> Any:
    return db.execute("SELECT COUNT(*) FROM t").get


def after(change: Callable[[], None]) -> Callable[[apsw.Connection], Any]:
    """A question during which the database changes."""

    def question(db: apsw.Connection) -> Any:
        answer = count(db)
        change()
        return answer

    return question


def test_a_database_that_changes_under_the_question_is_asked_again(tmp_path: Path) -> None:
    database = tmp_path / "state.db"
    make(database, "CREATE TABLE t (a)").close()
    changes = iter([True])

    def change_once() -> None:
        if next(changes, False):
            make(database, "INSERT INTO t VALUES (1)").close()

    assert read(database, after(change_once)) == 1


def test_a_database_that_never_holds_still_is_given_up(tmp_path: Path) -> None:
    database = tmp_path / "state.db"
    make(database, "CREATE TABLE t (a)").close()
    change = after(lambda: make(database, "INSERT INTO t VALUES (1)").close())
    with pytest.raises(HomeUnreadable) as refused:
        read(database, change)
    golden("homes", "unreadable: it never holds still", str(refused.value))
    assert read(database, count) == ATTEMPTS


def test_a_question_that_takes_more_steps_than_the_size_explains_is_given_up(
    tmp_path: Path,
) -> None:
    database = tmp_path / "state.db"
    make(database, "CREATE TABLE t (a)").close()
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT MAX(i) FROM n"
    with pytest.raises(HomeUnreadable) as refused:
        read(database, lambda db: db.execute(endless).get)
    golden("homes", "unreadable: too much work", str(refused.value))


def test_a_question_can_not_write(tmp_path: Path) -> None:
    database = tmp_path / "state.db"
    writer = make(database, "CREATE TABLE t (a)")
    with pytest.raises(HomeUnreadable) as refused:
        read(database, lambda db: db.execute("INSERT INTO t VALUES (1)").get)
    assert isinstance(refused.value.__context__, apsw.ReadOnlyError)
    assert count(writer) == 0
    writer.close()


def test_a_transaction_cut_short_is_neither_shown_nor_touched(tmp_path: Path) -> None:
    working, crashed = tmp_path / "working.db", tmp_path / "state.db"
    writer = apsw.Connection(str(working))
    writer.execute("CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(100000))")
    writer.pragma("cache_size", 2)
    writer.execute("BEGIN; UPDATE t SET a = randomblob(100000); INSERT INTO t VALUES (1)")
    shutil.copy(working, crashed)
    journal = tmp_path / "state.db-journal"
    shutil.copy(tmp_path / "working.db-journal", journal)
    before = (crashed.read_bytes(), journal.read_bytes())
    with pytest.raises(HomeUnreadable) as refused:
        read(crashed, count)
    golden("homes", "unreadable: a write was cut short", str(refused.value))
    assert (crashed.read_bytes(), journal.read_bytes()) == before
    writer.close()


def test_a_question_the_schema_can_not_answer_makes_the_home_unknown(tmp_path: Path) -> None:
    database = tmp_path / "state.db"
    make(database, "CREATE TABLE t (a)").close()
    with pytest.raises(HomeUnknown) as refused:
        read(database, lambda db: db.execute("SELECT b FROM t").get)
    assert isinstance(refused.value.__context__, apsw.SQLError)


def test_text_in_another_encoding_makes_the_home_unknown(tmp_path: Path) -> None:
    writer = apsw.Connection(str(tmp_path / "state.db"))
    writer.execute("PRAGMA encoding = 'UTF-16le'")
    lay_out(writer)
    writer.close()
    with pytest.raises(HomeUnknown, match="UTF-16le"):
        Notebook().look(HermesHome(tmp_path, "work", clock=ManualClock()))


def test_an_empty_version_table_makes_the_home_unknown(tmp_path: Path) -> None:
    writer = apsw.Connection(str(tmp_path / "state.db"))
    lay_out(writer)
    writer.execute("DELETE FROM schema_version")
    writer.close()
    with pytest.raises(HomeUnknown, match="schema_version"):
        Notebook().look(HermesHome(tmp_path, "work", clock=ManualClock()))


@examples(40)
@given(
    rows=st.lists(row_of(SESSION_COLUMNS), max_size=4),
    messages=st.lists(row_of(MESSAGE_COLUMNS), max_size=4),
    usage=st.lists(row_of(USAGE_COLUMNS), max_size=3),
    at_home=st.booleans(),
)
def test_no_value_in_any_column_breaks_a_look(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[Any, ...]],
    messages: list[tuple[Any, ...]],
    usage: list[tuple[Any, ...]],
    at_home: bool,
) -> None:
    path = tmp_path_factory.mktemp("home")
    writer = apsw.Connection(str(path / "state.db"))
    lay_out(writer)
    fill(writer, "sessions", SESSION_COLUMNS, [("one", *row[1:]) for row in rows[:1]] + rows[1:])
    owner = "one" if at_home else None
    fill(writer, "messages", MESSAGE_COLUMNS, [(owner or row[0], *row[1:]) for row in messages])
    fill(writer, "session_model_usage", USAGE_COLUMNS, [(owner, *row[1:]) for row in usage])
    writer.close()
    book = Notebook()
    home = HermesHome(path, "work", clock=ManualClock())
    book.look(home)
    book.look(home)
    for session in book.sessions.values():
        check(session)
    assert not rows or "one" in book.all_ids()


def lay_out(writer: apsw.Connection) -> None:
    """The tables of a Hermes home with columns that take any value."""
    writer.pragma("synchronous", "off")
    writer.execute(f"CREATE TABLE sessions ({', '.join(SESSION_COLUMNS)})")
    columns = ", ".join(("id INTEGER PRIMARY KEY AUTOINCREMENT", *MESSAGE_COLUMNS))
    writer.execute(f"CREATE TABLE messages ({columns})")
    writer.execute(f"CREATE TABLE session_model_usage ({', '.join(USAGE_COLUMNS)})")
    writer.execute("CREATE TABLE schema_version (version)")
    writer.execute("INSERT INTO schema_version VALUES (22)")


def fill(
    writer: apsw.Connection, table: str, columns: tuple[str, ...], rows: list[tuple[Any, ...]]
) -> None:
    for row in rows:
        places = ["CAST(? AS TEXT)" if isinstance(value, tuple) else "?" for value in row]
        values = [value[1] if isinstance(value, tuple) else value for value in row]
        writer.execute(
            f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join(places)})", values
        )


def check(session: Session) -> None:
    """What a ledger may rely on."""
    for name in (session.id, session.source, session.key, session.parent, session.chat_type):
        assert name is None or check_name("name", name)
    for text in (session.title, session.preview, session.end_reason):
        assert text is None or text.encode()
    assert session.started_at <= session.active_at
    assert (session.ended_at is None) == session.is_open
    assert session.ended_at is None or session.ended_at >= session.started_at
    assert min(session.usage.tokens, session.usage.cost_micros, session.byte_count) >= 0
    assert session.usage.cost_micros < 2**63
    assert session.parent != session.id
