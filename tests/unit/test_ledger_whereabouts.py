"""Are the ledger's file and its log still where others find them?"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sexton.store import sqlite_file
from sexton.store.sqlite_file import Whereabouts


@pytest.fixture(params=["just now", "long ago"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory in which something changed just now, or long ago."""
    if request.param == "long ago":
        monkeypatch.setattr(sqlite_file, "SETTLED", -1)
    made = tmp_path / "place"
    made.mkdir()
    (made / "l.db").touch()
    (made / "l.db-wal").touch()
    return made


def known(place: Path) -> Whereabouts:
    """What was looked at a few times already."""
    found = Whereabouts(str(place / "l.db"))
    assert [found.are_known() for _ in range(4)] == [True] * 4
    return found


def replace(path: Path) -> None:
    other = path.with_name("other")
    other.touch()
    other.replace(path)


CHANGES: dict[str, Callable[[Path], object]] = {
    "file removed": lambda place: (place / "l.db").unlink(),
    "file replaced": lambda place: replace(place / "l.db"),
    "file moved": lambda place: (place / "l.db").rename(place / "elsewhere"),
    "log removed": lambda place: (place / "l.db-wal").unlink(),
    "directory moved": lambda place: place.rename(place.with_name("elsewhere")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_is_not_there_any_more_is_noticed_at_once(change: str, place: Path) -> None:
    found = known(place)
    CHANGES[change](place)
    assert not found.are_known()


def test_another_log_is_noticed_once_the_time_of_the_directory_has_moved_on(place: Path) -> None:
    found = known(place)
    os.utime(place)  # so that the change shows on every system
    assert found.are_known()
    replace(place / "l.db-wal")
    assert not found.are_known()


def test_a_backup_that_is_put_back_with_all_its_times_is_noticed(place: Path) -> None:
    found = known(place)
    times = place.stat()
    replace(place / "l.db")
    os.utime(place, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert not found.are_known()


def test_what_comes_and_goes_beside_it_changes_nothing(place: Path) -> None:
    found = known(place)
    for number in range(3):
        (place / f"{number}").touch()
        assert found.are_known()
        assert found.has_file


def test_a_link_that_leads_elsewhere_is_noticed(place: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(place / "l.db")
    found = Whereabouts(str(link))
    assert [found.are_known() for _ in range(4)] == [True] * 4
    link.unlink()
    link.symlink_to(tmp_path)
    assert not found.are_known()
    assert not found.has_file
