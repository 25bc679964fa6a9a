"""Looking at a Hermes home neither disturbs Hermes nor leaves a trace."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sexton.cli.examination import examine
from sexton.core.clock import SystemClock
from sexton.errors import HomeNotFound, HomeUnknown, HomeUnreadable, SextonError
from sexton.homes.hermes.home import HermesHome
from tests.contract.home_contract import Notebook
from tests.golden import golden
from tests.scenario.hermes_home import Hermes, HermesScene
from tests.scenario.hermes_house import House

NOBODY = 65534
LOOKS, AHEAD, SESSIONS, MESSAGES = 50, 2, 10, 25


@pytest.fixture
def book() -> Notebook:
    return Notebook()


def home_at(path: Path) -> HermesHome:
    return HermesHome(path, "work", clock=SystemClock())


def test_fifty_looks_at_a_home_that_is_being_written_disturb_nothing(
    scene: HermesScene, book: Notebook
) -> None:
    sent = looks = answered = acknowledged = 0
    while answered < sent or looks < LOOKS:
        while looks < LOOKS and sent < answered + AHEAD:  # it is never without work meanwhile
            scene.hermes.send(scene.path, "write_many", f"batch{sent}-", SESSIONS, MESSAGES)
            sent += 1
        book.look(scene.home)
        looks += 1
        if scene.hermes.has_answered():
            acknowledged += scene.hermes.answer()
            answered += 1
    book.look(scene.home)
    assert acknowledged == sent * SESSIONS * MESSAGES
    assert sum(session.message_count for session in book.sessions.values()) == acknowledged
    assert len(book.open_ids()) == sent * SESSIONS // 2
    assert scene.sql("SELECT COUNT(*) FROM messages") == [[acknowledged]]
    assert scene.sql("PRAGMA integrity_check") == [["ok"]]


def test_a_closed_home_stays_exactly_as_it_was(scene: HermesScene, book: Notebook) -> None:
    scene.start("one")
    scene.say("one", "Good morning")
    scene.close()
    before = scene.stamps()
    assert {Path(place).name for place in before} == {"home", "state.db"}
    book.look(scene.home)
    scene.home.figures()
    assert book.sessions["one"].message_count == 1
    assert scene.stamps() == before


def test_an_open_home_gets_no_new_file_and_no_byte_into_its_database(
    scene: HermesScene, book: Notebook
) -> None:
    scene.start("one")
    database, log = scene.database, scene.path / "state.db-wal"
    files = sorted(scene.path.iterdir())
    before = (database.read_bytes(), log.read_bytes(), log.stat().st_mtime_ns)
    book.look(scene.home)
    scene.home.figures()
    assert book.all_ids() == {"one"}
    assert (database.read_bytes(), log.read_bytes(), log.stat().st_mtime_ns) == before
    assert sorted(scene.path.iterdir()) == files


def test_a_home_left_by_a_killed_hermes_shows_what_was_committed(
    hermes_python: Path, tmp_path: Path, book: Notebook
) -> None:
    with Hermes(hermes_python, tmp_path) as hermes:
        scene = HermesScene(hermes, tmp_path / "home")
        scene.start("one")
        scene.say("one", "Good morning")
        hermes.kill()
    log = scene.path / "state.db-wal"
    before = (log.stat().st_ino, log.read_bytes())
    book.look(scene.home)
    assert book.sessions["one"].message_count == 1
    assert (log.stat().st_ino, log.read_bytes()) == before


def test_a_home_without_a_log_is_read_under_its_own_locks(
    scene: HermesScene, book: Notebook
) -> None:
    scene.start("one")
    assert scene.sql("PRAGMA journal_mode = DELETE") == [["delete"]]
    before = scene.stamps()
    book.look(scene.home)
    assert book.all_ids() == {"one"}
    assert scene.stamps() == before


def test_a_home_nobody_may_write_to_is_read(scene: HermesScene, book: Notebook) -> None:
    scene.start("one")
    scene.close()
    with readable_copy(scene.path) as copy:
        book.look(home_at(copy))
        assert book.all_ids() == {"one"}
        assert [file.name for file in copy.iterdir()] == ["state.db"]


def test_a_home_nobody_may_read_is_a_clear_error(scene: HermesScene, book: Notebook) -> None:
    scene.start("one")
    scene.close()
    with readable_copy(scene.path, mode=0o000) as copy, pytest.raises(HomeUnreadable):
        book.look(home_at(copy))


@pytest.mark.parametrize("name", ["with space", "50% off?", "a#b&c=d;e", "héme-日本", "-wal"])
def test_the_name_of_the_directory_does_not_matter(
    hermes: Hermes, tmp_path: Path, book: Notebook, name: str
) -> None:
    scene = HermesScene(hermes, tmp_path / name)
    scene.start("one")
    book.look(scene.home)
    scene.close()
    book.mark = None
    book.look(scene.home)
    assert book.all_ids() == {"one"}


def test_a_linked_home_is_the_home_it_leads_to(
    scene: HermesScene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, book: Notebook
) -> None:
    scene.start("one")
    (tmp_path / ".hermes").symlink_to(scene.path)
    monkeypatch.setenv("HOME", str(tmp_path))
    home = home_at(Path("~/.hermes"))
    book.look(home)
    assert home.path == scene.path.resolve()
    assert book.all_ids() == {"one"}


def test_a_database_kept_elsewhere_is_followed_together_with_its_log(
    scene: HermesScene, tmp_path: Path, book: Notebook
) -> None:
    scene.start("one")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "state.db").symlink_to(scene.database)
    home = home_at(elsewhere)
    book.look(home)
    scene.say("one", "Good morning")
    book.look(home)
    assert book.sessions["one"].message_count == 1


def test_there_has_to_be_a_home(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "missing", tmp_path / "file", tmp_path):
        with pytest.raises(HomeNotFound, match=path.name):
            home_at(path)


def test_a_home_that_vanishes_later_is_not_found(scene: HermesScene, book: Notebook) -> None:
    scene.close()
    scene.database.unlink()
    with pytest.raises(HomeNotFound):
        book.look(scene.home)


def test_what_is_not_a_database_can_not_be_read(tmp_path: Path, book: Notebook) -> None:
    (tmp_path / "state.db").write_bytes(b"not a database at all\n" * 1_000)
    assert_refused(tmp_path, book, HomeUnreadable, "no SQLite file")


def test_a_database_cut_short_can_not_be_read(scene: HermesScene, book: Notebook) -> None:
    for number in range(50):
        scene.start(f"session {number}")
        scene.say(f"session {number}", "word " * 500)
    scene.close()
    os.truncate(scene.database, scene.database.stat().st_size // 2)
    assert_refused(scene.path, book, HomeUnreadable, "malformed")


def test_a_database_with_damaged_pages_can_not_be_read(scene: HermesScene, book: Notebook) -> None:
    for number in range(50):
        scene.start(f"session {number}")
        scene.say(f"session {number}", "word " * 500)
    scene.close()
    with scene.database.open("r+b") as file:
        file.seek(8_192)
        file.write(b"\xa5" * (scene.database.stat().st_size - 8_192))
    assert_refused(scene.path, book, HomeUnreadable, "malformed")


def test_another_programs_database_is_not_known(tmp_path: Path, book: Notebook) -> None:
    made = sqlite3.connect(tmp_path / "state.db")
    made.execute("CREATE TABLE bookmarks (url TEXT)")
    made.commit()
    made.close()
    assert_refused(tmp_path, book, HomeUnknown, "tables are missing")


def test_an_empty_file_is_not_known(tmp_path: Path, book: Notebook) -> None:
    (tmp_path / "state.db").touch()
    assert_refused(tmp_path, book, HomeUnknown, "tables are missing")
    with pytest.raises(HomeUnknown) as refused:
        home_at(tmp_path).figures()
    golden("homes", "hint: tables are missing", refused.value.hint)


def test_a_schema_of_the_future_is_not_known(scene: HermesScene, book: Notebook) -> None:
    scene.sql("UPDATE schema_version SET version = 99")
    scene.close()
    assert_refused(scene.path, book, HomeUnknown, "version 99")


def test_a_schema_without_the_columns_we_need_is_not_known(
    scene: HermesScene, book: Notebook
) -> None:
    scene.sql("ALTER TABLE sessions RENAME COLUMN ended_at TO closed_at")
    scene.close()
    assert_refused(scene.path, book, HomeUnknown, "a column is missing")


def test_figures_tell_sizes_and_kinds_of_files(scene: HermesScene) -> None:
    scene.start("one")
    folder = scene.path / "sessions"
    folder.mkdir()
    for name, size in (
        ("session_one.json", 10),
        ("session_two.json", 20),
        ("request_dump_one_20260101_120000_000001.json", 300),
        ("one.jsonl", 4_000),
        ("sessions.json", 50_000),
    ):
        (folder / name).write_bytes(b"x" * size)
    (folder / "session_link.json").symlink_to(scene.database)
    (folder / "session_folder.json").mkdir()
    figures = scene.home.figures()
    assert figures.schema_version == 22
    assert figures.database_bytes == scene.database.stat().st_size
    assert figures.wal_bytes == (scene.path / "state.db-wal").stat().st_size > 0
    assert (figures.snapshots.files, figures.snapshots.bytes) == (2, 30)
    assert (figures.request_dumps.files, figures.request_dumps.bytes) == (1, 300)
    assert (figures.transcripts.files, figures.transcripts.bytes) == (1, 4_000)
    assert (figures.other_files.files, figures.other_files.bytes) == (1, 50_000)


def test_figures_of_a_home_without_files_or_with_a_linked_folder_are_zero(
    scene: HermesScene, tmp_path: Path
) -> None:
    assert scene.home.figures().other_files.files == 0
    (scene.path / "sessions").symlink_to(tmp_path)
    assert scene.home.figures().other_files.files == 0


def test_an_examination_lists_the_files_of_a_home_once(
    scene: HermesScene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.start("one")
    folder = scene.path / "sessions"
    folder.mkdir()
    (folder / "request_dump_gone_20260101_120000_000001.json").write_bytes(b"x" * 300)
    house = House(f"sqlite:///{tmp_path / 'ledger.db'}", scene.path)
    listed: list[Path] = []
    really_open = os.open

    def counted(path: str | Path, *options: int, **others: int) -> int:
        if path == folder:
            listed.append(folder)
        return really_open(path, *options, **others)

    monkeypatch.setattr(os, "open", counted)
    with house.sexton as opened:
        report = examine(opened, "work", opened.settings.homes[0], strict=True)
    assert report.figures is not None
    assert report.figures.request_dumps.files == 1
    assert report.findings  # the diagnosis was made, from the same list
    assert listed == [folder]


def assert_refused(path: Path, book: Notebook, error: type[SextonError], scene: str) -> None:
    """The home is refused with that error, and its directory is as it was."""
    before = {file: file.stat().st_mtime_ns for file in (path, *path.iterdir())}
    for look in (lambda: book.look(home_at(path)), lambda: home_at(path).figures()):
        with pytest.raises(error) as refused:
            look()
        golden("homes", f"refused: {scene}", str(refused.value))
    assert {file: file.stat().st_mtime_ns for file in (path, *path.iterdir())} == before


@contextmanager
def readable_copy(home: Path, mode: int = 0o444) -> Iterator[Path]:
    """A copy that can not be written, seen with the eyes of a plain user."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(shutil.copytree(home, Path(scratch) / "copy"))
        (copy / "state.db").chmod(mode)
        copy.chmod(0o555)
        Path(scratch).chmod(0o755)
        mighty = os.geteuid() == 0
        if mighty:
            os.seteuid(NOBODY)
        try:
            yield copy
        finally:
            if mighty:
                os.seteuid(0)
            copy.chmod(0o755)
