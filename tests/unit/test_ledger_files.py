"""Which files are taken for a ledger, which are refused untouched, and who may read them."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from sexton.errors import LedgerCorrupt, LedgerError, LedgerIsDirectory, LedgerNotADatabase
from sexton.store.opening import masked, open_ledger, sqlite_path
from sexton.store.sqlite_file import APPLICATION_ID, check_engine
from tests.contract.ledger_contract_samples import born, heard, say


def make_text(path: Path) -> None:
    path.write_text("Dear diary, " * 500)


def make_short_text(path: Path) -> None:
    path.write_text("Buy milk.")


def make_text_of_one_sector(path: Path) -> None:
    path.write_text("x" * 512)


def make_database(path: Path) -> None:
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("CREATE TABLE pets (name TEXT); INSERT INTO pets VALUES ('Rex')")


def make_database_in_wal_mode(path: Path) -> None:
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE pets (name TEXT)").fetchall()


def make_labelled_database(path: Path) -> None:
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("PRAGMA application_id = 7; VACUUM")


FOREIGN = [
    make_text,
    make_short_text,
    make_text_of_one_sector,
    make_database,
    make_database_in_wal_mode,
    make_labelled_database,
]


def contents(directory: Path) -> dict[str, bytes | None]:
    """Every file and its bytes."""
    return {
        path.name: path.read_bytes() if path.is_file() else None for path in directory.iterdir()
    }


@pytest.mark.parametrize("make", FOREIGN)
def test_what_is_not_a_ledger_is_refused_and_left_as_it_was(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    make(tmp_path / "thing")
    before = contents(tmp_path)
    with pytest.raises(LedgerNotADatabase) as caught:
        open_ledger(f"sqlite:///{tmp_path / 'thing'}")
    assert contents(tmp_path) == before
    assert caught.value.exit_code == 12


def test_a_directory_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    with pytest.raises(LedgerIsDirectory):
        open_ledger(str(tmp_path))
    assert contents(tmp_path) == {}


def test_a_database_that_another_program_has_open_is_refused_and_not_disturbed(
    tmp_path: Path,
) -> None:
    path = tmp_path / "pets.db"
    make_database_in_wal_mode(path)
    owner = [sys.executable, "-c", OWNER, str(path)]
    with subprocess.Popen(owner, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(LedgerNotADatabase):
            open_ledger(str(path))
        out, _ = process.communicate(b"go on\n", timeout=240)
    assert (out, process.returncode) == (b"2 pets\n", 0)
    assert contents(tmp_path).keys() == {"pets.db"}


OWNER = """
import apsw, sys
connection = apsw.Connection(sys.argv[1])
connection.execute("INSERT INTO pets VALUES ('Rex')")
print("ready", flush=True)
sys.stdin.readline()
connection.execute("INSERT INTO pets VALUES ('Tom')")
connection.close()
again = apsw.Connection(sys.argv[1])
print(again.execute("SELECT COUNT(*) FROM pets").fetchall()[0][0], "pets")
again.close()
"""


def test_a_path_that_leads_through_a_file_is_refused(tmp_path: Path) -> None:
    make_text(tmp_path / "file")
    with pytest.raises(LedgerNotADatabase):
        open_ledger(str(tmp_path / "file" / "ledger.db"))


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: os.symlink("/dev/null", path)])
def test_what_is_no_plain_file_is_refused(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "thing")
    with pytest.raises(LedgerNotADatabase):
        open_ledger(str(tmp_path / "thing"))


def test_an_empty_file_becomes_a_ledger(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    open_ledger(str(tmp_path / "empty")).close()
    with closing(apsw.Connection(str(tmp_path / "empty"))) as connection:
        assert connection.pragma("application_id") == APPLICATION_ID


def test_a_damaged_ledger_is_told_from_a_foreign_file(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    ledger = open_ledger(str(path))
    begun = born(ledger)
    say(ledger, begun, *["x" * 2000] * 200)
    ledger.close()
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(path.stat().st_size - 4096))
    with pytest.raises(LedgerCorrupt):
        heard(open_ledger(str(path)), begun)


def test_a_ledger_opened_twice_in_one_process_keeps_its_locks(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    first = open_ledger(str(path))
    begun = born(first)
    open_ledger(str(path)).close()
    subprocess.run([sys.executable, "-c", VISITOR, str(path)], check=True, timeout=240)
    assert say(first, begun, "after the visit")
    again = open_ledger(str(path))
    assert [each.content for each in heard(again, begun)] == ["after the visit"]
    first.close()
    again.close()


VISITOR = """
import apsw, sys
connection = apsw.Connection(sys.argv[1])
print(connection.execute("SELECT COUNT(*) FROM sessions").fetchall())
connection.close()
"""


def test_a_ledger_and_its_directories_are_private_whatever_the_umask(tmp_path: Path) -> None:
    path = tmp_path / "one" / "two" / "ledger.db"
    done = subprocess.run(
        [sys.executable, "-c", OPENER, str(path)], check=True, capture_output=True, timeout=240
    )
    assert sorted(done.stdout.split()) == [b"ledger.db", b"ledger.db-shm", b"ledger.db-wal"]
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in (path, *path.parents[:2])}
    assert modes == {"ledger.db": 0o600, "two": 0o700, "one": 0o700}


OPENER = """
import os, stat, sys
from pathlib import Path
os.umask(0)
from sexton.store.opening import open_ledger
ledger = open_ledger(sys.argv[1])
ledger.homes.all()
for each in Path(sys.argv[1]).parent.iterdir():
    assert stat.S_IMODE(each.stat().st_mode) == 0o600, each
    print(each.name)
ledger.close()
"""


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///here.db", "here.db"),
        ("sqlite:////abs/l.db", "/abs/l.db"),
        ("sqlite:////abs/a%20b%3F.db", "/abs/a b?.db"),
        ("plain/path.db", "plain/path.db"),
        ("/abs/a b?#%20.db", "/abs/a b?#%20.db"),
    ],
)
def test_a_url_or_a_path_names_a_file(url: str, path: str) -> None:
    assert sqlite_path(url) == path


@pytest.mark.parametrize("url", ["", "sqlite:///", "sqlite:", "sqlite://x.db", "mysql://host/db"])
def test_an_address_that_names_nothing_is_refused(url: str) -> None:
    with pytest.raises(LedgerError) as caught:
        open_ledger(url)
    assert caught.value.hint


@pytest.mark.parametrize("name", ["a b", "ü", "100%", "q?x=1", "h#ash", "per%20cent", "plus+"])
def test_a_ledger_may_have_any_name(tmp_path: Path, name: str) -> None:
    for _ in range(2):
        open_ledger(str(tmp_path / name)).close()
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_url_is_shown_without_its_login() -> None:
    assert masked("postgresql://me:secret@host:5/db?x=y") == "postgresql://host:5/db"
    assert masked("postgres:///db?host=/run/pg") == "postgresql:///db"
    assert masked("/home/me@work/ledger.db") == "/home/me@work/ledger.db"


@pytest.mark.parametrize("version", ["3.40.1", "3.44.5", "3.50.6", "3.51.2", "3.45.0"])
def test_an_engine_that_can_corrupt_a_ledger_is_refused(version: str) -> None:
    with pytest.raises(LedgerError, match=version) as caught:
        check_engine(version)
    assert caught.value.exit_code == 19


@pytest.mark.parametrize("version", ["3.44.6", "3.50.7", "3.51.3", "3.54.1", "4.0.0"])
def test_a_mended_engine_is_accepted(version: str) -> None:
    check_engine(version)
