"""A program that counts how often the disk is synced while sessions go into the trash."""

from __future__ import annotations

from pathlib import Path

from tests.kit.nursery import Report
from tests.scenario.collecting_scene import House
from tests.scenario.spend_cost import Counting

FEW, MANY = 10, 90
"""What goes in one step, and in two."""


def collect(disk: Counting, place: Path, sessions: int, *, with_file: bool = False) -> int:
    """How many syncs it takes to remove so many, one of them perhaps with a file."""
    place.mkdir()
    house = House(f"sqlite:///{place / 'ledger.db'}", place)
    first, *_ = [house.over() for _ in range(sessions)]
    if with_file:
        Path(house.files.directory(first), "a").write_text("kept")
    house.later()
    before = disk.syncs
    _, outcomes = house.collect()
    assert len(outcomes) == sessions
    house.sexton.close()
    return disk.syncs - before


def count(report: Report, place: str) -> None:
    """Tell how many syncs it takes."""
    disk = Counting()
    report.tell("few", collect(disk, Path(place, "few"), FEW))
    report.tell("many", collect(disk, Path(place, "many"), MANY))
    report.tell("files", collect(disk, Path(place, "files"), MANY, with_file=True))
