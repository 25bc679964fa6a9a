"""Where does the log of a ledger's file grow into?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import apsw
import pytest

from sexton.store.ledger_ports import Ledger
from sexton.store.log_room import SPARE, STEP, LogRoom
from sexton.store.opening import open_ledger
from sexton.store.sqlite import LOG_BYTES, TENDED
from tests.contract.ledger_contract_samples import born, heard, say

KILOBYTE = "x" * 1024
LONG = 32 * STEP


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    opened = open_ledger(str(path))
    yield opened
    opened.close()


def log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def length(path: Path) -> int:
    return log_of(path).stat().st_size


def grow(path: Path, room: LogRoom) -> None:
    """Write to the log, as a commit does."""
    with log_of(path).open("ab") as log:
        log.write(b"frame")
    room.tend()


def test_a_log_that_grows_is_given_room_which_many_commits_then_fill(
    path: Path, ledger: Ledger
) -> None:
    begun = born(ledger)
    for _ in range(TENDED):
        say(ledger, begun, KILOBYTE)
    given = length(path)
    assert given > STEP
    for _ in range(10 * TENDED):
        say(ledger, begun, KILOBYTE)
    assert length(path) == given


def test_who_writes_but_little_leaves_a_small_log(path: Path, ledger: Ledger) -> None:
    begun = born(ledger)
    for _ in range(TENDED // 2):
        say(ledger, begun, KILOBYTE)
    assert length(path) < STEP


def test_a_log_is_given_no_more_room_than_it_has_use_for(path: Path, ledger: Ledger) -> None:
    begun = born(ledger)
    for _ in range(LOG_BYTES // 8 // 4096):
        say(ledger, begun, *[KILOBYTE * 4] * 8)
    # A thread folds it in: while that waits for a processor, the log has use for more.
    assert LOG_BYTES <= length(path) < LOG_BYTES + 10 * STEP


def test_everything_is_there_for_who_comes_after_a_process_that_could_not_tidy_up(
    path: Path, ledger: Ledger, tmp_path: Path
) -> None:
    begun = born(ledger)
    for number in range(3 * TENDED):
        say(ledger, begun, f"{number}")
    copy = tmp_path / "copy.db"
    copy.write_bytes(path.read_bytes())
    log_of(copy).write_bytes(log_of(path).read_bytes())
    assert log_of(copy).read_bytes()[-STEP // 2 :] == bytes(STEP // 2)
    found = apsw.Connection(str(copy))
    assert found.pragma("integrity_check") == "ok"
    found.close()
    after = open_ledger(str(copy))
    assert [message.content for message in heard(after, begun)] == [
        f"{number}" for number in range(3 * TENDED)
    ]
    after.close()


def test_a_log_that_does_not_grow_is_left_alone(path: Path) -> None:
    log_of(path).write_bytes(bytes(100))
    room = LogRoom(str(path), LONG)
    room.tend()
    assert length(path) == 100
    grow(path, room)
    assert length(path) > STEP


def test_a_log_that_is_gone_or_was_cut_short_is_no_problem(path: Path) -> None:
    room = LogRoom(str(path), LONG)
    room.tend()
    assert not log_of(path).exists()
    grow(path, room)
    given = length(path)
    os.truncate(log_of(path), 0)
    room.tend()
    assert length(path) == 0
    grow(path, room)
    assert length(path) == given


def test_on_a_disk_that_is_nearly_full_a_log_takes_only_what_it_needs(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = SimpleNamespace(f_frsize=4096, f_bavail=SPARE // 4096 - 1)
    monkeypatch.setattr(os, "statvfs", lambda _: blocks)
    room = LogRoom(str(path), LONG)
    grow(path, room)
    assert length(path) == len(b"frame")
    blocks.f_bavail += 1
    grow(path, room)
    assert length(path) > STEP


def test_a_name_that_leads_elsewhere_is_not_followed(path: Path, tmp_path: Path) -> None:
    log_of(path).symlink_to(tmp_path / "elsewhere")
    grow(path, LogRoom(str(path), LONG))
    assert (tmp_path / "elsewhere").stat().st_size == len(b"frame")


def test_a_ledger_that_is_reached_through_a_link_has_its_log_beside_the_file(
    path: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(path)
    grow(path, LogRoom(str(tmp_path / "link"), LONG))
    assert length(path) > STEP
