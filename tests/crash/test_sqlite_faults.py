"""A file that can not be written, a disk that is full: a clear error, nothing half done."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sexton.store.opening import open_ledger
from tests.crash.failing_disk import STEPS
from tests.crash.small_disk import told_on_a_small_disk
from tests.kit.nursery import Nursery


@pytest.fixture
def public(tmp_path: Path) -> Path:
    """A directory that everybody can reach and read."""
    for directory in (tmp_path, *tmp_path.parents[:2]):
        directory.chmod(0o755)
    (tmp_path / "home").mkdir(mode=0o755)
    return tmp_path / "home"


def make_file_read_only(path: Path) -> None:
    path.chmod(0o444)
    path.parent.chmod(0o777)


def make_directory_read_only(path: Path) -> None:
    path.chmod(0o666)
    path.parent.chmod(0o555)


def make_file_unreadable(path: Path) -> None:
    path.chmod(0o000)
    path.parent.chmod(0o777)


def make_directory_unreachable(path: Path) -> None:
    path.parent.chmod(0o600)


@pytest.mark.parametrize(
    "close_off",
    [
        make_file_read_only,
        make_directory_read_only,
        make_file_unreadable,
        make_directory_unreachable,
    ],
)
def test_a_ledger_that_can_not_be_written_is_refused_and_left_as_it_was(
    nursery: Nursery, public: Path, close_off: Callable[[Path], None]
) -> None:
    path = public / "ledger.db"
    open_ledger(str(path)).close()
    before = path.read_bytes()
    close_off(path)
    child = nursery.start("tests.crash.suffering:open_as_nobody", str(path))
    assert child.wait() == 0
    assert child.lines() == ["LedgerReadOnly 13 True"]
    public.chmod(0o755)
    path.chmod(0o600)
    assert path.read_bytes() == before
    assert [each.name for each in public.iterdir()] == ["ledger.db"]


def test_a_ledger_that_can_not_be_created_is_refused(nursery: Nursery, public: Path) -> None:
    public.chmod(0o555)
    for path in (public / "ledger.db", public / "deeper" / "ledger.db"):
        child = nursery.start("tests.crash.suffering:open_as_nobody", str(path))
        assert child.wait() == 0
        assert child.lines() == ["LedgerReadOnly 13 True"]
    public.chmod(0o755)
    assert list(public.iterdir()) == []


def test_on_a_full_disk_nothing_is_half_written_and_after_making_room_it_goes_on(
    tmp_path: Path,
) -> None:
    told = told_on_a_small_disk(tmp_path, sys.executable, "-m", "tests.crash.suffering")
    refused, fresh, went_on, then = told
    assert int(refused.split()[1]) > 50
    assert fresh == "fresh LedgerFull"
    assert went_on == "went on"
    assert then == "then LedgerFull"  # it can not even be opened without room, and says why


@pytest.mark.parametrize("kind", ["full", "broken"])
def test_at_whichever_step_the_disk_fails_acknowledged_means_stored_and_refused_means_whole_or_not(
    kind: str, tmp_path: Path, nursery: Nursery
) -> None:
    target = "tests.crash.failing_disk:suffer_at_every_step"
    child = nursery.start(target, str(tmp_path), kind)
    assert child.wait() == 0
    rounds = [line.split() for line in child.lines()]
    assert len(rounds) == 3 * STEPS
    # A disk that fails for good refuses something wherever it begins to.
    assert all(int(struck) > 0 and int(refused) > 0 for _, struck, refused in rounds[-STEPS:])


def test_where_a_file_may_not_grow_nothing_is_half_written_either(
    tmp_path: Path, nursery: Nursery
) -> None:
    child = nursery.start("tests.crash.suffering:reach_the_file_limit", str(tmp_path))
    assert child.wait() == 0
    assert child.lines() == ["went on"]
