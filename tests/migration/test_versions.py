"""Ledgers of other versions: refused, migrated once, or used as they are."""

from __future__ import annotations

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import psycopg
import pytest

from sexton.errors import LedgerOutdated, LedgerTooNew
from sexton.store import migrations
from sexton.store.opening import open_database, open_ledger
from tests.contract.ledger_contract_samples import born, everything, reread, say
from tests.crash.checking import ask, tell

LATER = (
    "ALTER TABLE journal ADD COLUMN mood TEXT; CREATE TABLE moods (name TEXT NOT NULL);",
    "ALTER TABLE moods ADD COLUMN depth TEXT NOT NULL DEFAULT 'deep';",
)
"""The migrations of two versions to come; the second needs the first, and neither runs twice."""
OPENERS = 6


@pytest.fixture(params=["sqlite", "postgres"])
def engine_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a ledger that no other test gets after its schema was changed."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.db'}"
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def next_version(tmp_path: Path) -> Path:
    """The migrations of code that is two versions ahead, in a folder of its own."""
    folder = tmp_path / "migrations"
    shutil.copytree(migrations.FOLDER, folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    for dialect in ("sqlite", "postgres"):
        number = migrations.latest(dialect) + 1
        for version, text in enumerate(LATER, number):
            (folder / dialect / f"{version:04}_moods.sql").write_text(text)
    return folder


def schema(url: str) -> list[tuple[object, ...]]:
    """Every table, column, index and trigger there is."""
    if url.startswith("sqlite"):
        return ask(url, "SELECT name, sql FROM sqlite_schema ORDER BY name")
    columns = ask(
        url,
        "SELECT table_name, column_name, data_type, is_nullable, column_default, collation_name"
        " FROM information_schema.columns WHERE table_schema = 'sexton' ORDER BY 1, 2",
    )
    rules = ask(
        url,
        "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE connamespace = 'sexton'::regnamespace ORDER BY 1, 2",
    )
    indexes = ask(
        url, "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'sexton' ORDER BY 1"
    )
    triggers = ask(
        url,
        "SELECT tgname, pg_get_triggerdef(t.oid), prosrc FROM pg_trigger AS t"
        " JOIN pg_proc AS p ON p.oid = t.tgfoid"
        " WHERE NOT tgisinternal AND pronamespace = 'sexton'::regnamespace ORDER BY 1",
    )
    views = ask(url, "SELECT definition FROM pg_views WHERE schemaname = 'sexton' ORDER BY 1")
    return columns + rules + indexes + triggers + views


def test_a_fresh_ledger_has_the_schema_that_the_migrations_add_up_to(
    engine_url: str, tmp_path: Path
) -> None:
    open_ledger(engine_url).close()
    found = schema(engine_url)
    dialect = engine_url.partition(":")[0].replace("postgresql", "postgres")
    files = sorted((Path(migrations.FOLDER) / dialect).glob("*.sql"))
    assert [int(file.name[:4]) for file in files] == list(range(1, len(files) + 1))
    if dialect == "sqlite":
        with apsw.Connection(str(tmp_path / "by hand.db")) as connection:
            for file in files:
                connection.execute(file.read_text())
        assert found == schema(f"sqlite:///{tmp_path / 'by hand.db'}")
        return
    with psycopg.connect(engine_url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA sexton CASCADE; CREATE SCHEMA sexton")
        connection.execute("SET search_path = sexton")
        for file in files:
            connection.execute(file.read_text().encode())
    assert found == schema(engine_url)


def test_both_engines_have_the_same_tables_columns_and_indexes(
    tmp_path: Path, postgres_url: str
) -> None:
    sqlite_url = f"sqlite:///{tmp_path / 'ledger.db'}"
    for url in (sqlite_url, postgres_url):
        open_ledger(url).close()
    columns = "SELECT m.name, c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c"
    own = "m.name NOT LIKE 'sqlite!_%' ESCAPE '!'"  # where the engine keeps numbers it has given
    theirs = "SELECT table_name, column_name FROM information_schema.columns"
    assert set(ask(sqlite_url, f"{columns} WHERE m.type IN ('table', 'view') AND {own}")) == set(
        ask(postgres_url, f"{theirs} WHERE table_schema = 'sexton'")
    )
    named = "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"
    indexes = "SELECT indexname FROM pg_indexes WHERE schemaname = 'sexton'"
    assert set(ask(sqlite_url, named)) <= set(ask(postgres_url, indexes))
    triggers = "SELECT DISTINCT trigger_name FROM information_schema.triggers"
    assert set(ask(sqlite_url, "SELECT name FROM sqlite_schema WHERE type = 'trigger'")) == set(
        ask(postgres_url, f"{triggers} WHERE trigger_schema = 'sexton'")
    )


def test_a_ledger_from_the_future_is_refused_and_left_as_it_is(engine_url: str) -> None:
    open_ledger(engine_url).close()
    tell(engine_url, "UPDATE ledger SET schema_version = 99, oldest_reader = 98")
    before = schema(engine_url)
    with pytest.raises(LedgerTooNew) as caught:
        open_ledger(engine_url)
    assert caught.value.exit_code == 11
    assert (schema(engine_url), ask(engine_url, "SELECT schema_version FROM ledger")) == (
        before,
        [(99,)],
    )


def test_a_ledger_from_the_future_that_says_older_readers_are_fine_is_used(
    engine_url: str,
) -> None:
    open_ledger(engine_url).close()
    tell(engine_url, "UPDATE ledger SET schema_version = 99, oldest_reader = 1")
    ledger = open_ledger(engine_url)
    begun = born(ledger)
    assert say(ledger, begun, "hello")
    ledger.close()
    assert ask(engine_url, "SELECT schema_version, oldest_reader FROM ledger") == [(99, 1)]


def test_an_older_file_is_brought_up_to_date_when_it_is_opened(
    tmp_path: Path, next_version: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = (f"sqlite:///{tmp_path / name}.db" for name in ("old", "new"))
    ledger = open_ledger(old)
    begun = born(ledger)
    say(ledger, begun, "hello")
    ledger.close()
    monkeypatch.setattr(migrations, "FOLDER", next_version)
    for url in (old, new):
        open_ledger(url).close()
    assert schema(old) == schema(new)
    again = open_ledger(old)
    assert (again.id, reread(again, begun).message_count) == (ledger.id, 1)
    again.close()
    assert ask(old, "SELECT schema_version FROM ledger") == [(migrations.latest("sqlite"),)]


def test_an_older_shared_database_is_refused_until_somebody_migrates_it(
    postgres_url: str, next_version: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = open_ledger(postgres_url)
    begun = born(ledger)
    before = schema(postgres_url)
    monkeypatch.setattr(migrations, "FOLDER", next_version)
    with pytest.raises(LedgerOutdated) as caught:
        open_ledger(postgres_url)
    assert "ledger migrate" in caught.value.hint
    assert schema(postgres_url) == before
    for _ in range(2):
        open_database(postgres_url, upgrade=True).close()
    again = open_ledger(postgres_url)
    assert everything(again) == [begun]
    again.close()
    assert say(ledger, begun, "through the old code, still running")
    ledger.close()
    newest = migrations.latest("postgres")
    assert ask(postgres_url, "SELECT schema_version FROM ledger") == [(newest,)]


def test_an_older_ledger_that_many_open_at_once_is_brought_up_to_date_once(
    engine_url: str, next_version: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = open_ledger(engine_url)
    begun = born(ledger)
    ledger.close()
    monkeypatch.setattr(migrations, "FOLDER", next_version)
    barrier = threading.Barrier(OPENERS, timeout=240)

    def open_it() -> None:
        barrier.wait()
        open_database(engine_url, upgrade=True).close()

    with ThreadPoolExecutor(OPENERS) as pool:
        for opening in [pool.submit(open_it) for _ in range(OPENERS)]:
            opening.result(240)
    again = open_ledger(engine_url)
    assert (again.schema, everything(again)) == (migrations.latest("sqlite"), [begun])
    again.close()


def test_a_migration_that_fails_changes_nothing(
    engine_url: str, next_version: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_ledger(engine_url).close()
    before = schema(engine_url)
    for dialect in ("sqlite", "postgres"):
        last = sorted((next_version / dialect).glob("*_moods.sql"))[-1]
        last.write_text(f"{LATER[-1]} INSERT INTO moods VALUES (NULL, 'none');")
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "FOLDER", next_version)
        with pytest.raises((apsw.ConstraintError, psycopg.errors.NotNullViolation)):
            open_database(engine_url, upgrade=True)
    assert schema(engine_url) == before
    ledger = open_ledger(engine_url)
    born(ledger)
    ledger.close()


def test_every_ledger_has_a_key_of_its_own_for_its_plans(engine_url: str, tmp_path: Path) -> None:
    ledger = open_ledger(engine_url)
    other = open_ledger(f"sqlite:///{tmp_path / 'another.db'}")
    key = ledger.plan_key()
    assert len(key) == 32
    assert key not in (other.plan_key(), bytes(32))
    assert key.hex() not in repr(ledger)
    for opened in (ledger, other):
        opened.close()


def test_a_later_migration_leaves_the_key_of_plans_as_it_is(
    engine_url: str, next_version: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = open_ledger(engine_url)
    key = before.plan_key()
    before.close()
    monkeypatch.setattr(migrations, "FOLDER", next_version)
    open_database(engine_url, upgrade=True).close()
    after = open_ledger(engine_url)
    assert after.plan_key() == key
    after.close()
