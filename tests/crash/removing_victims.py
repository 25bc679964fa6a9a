"""Processes that put sessions away and bring them back, to be killed at any moment."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from sexton.keeper.apply import new_receipt
from sexton.operations.changes.clearing import END_OF_TIME
from sexton.retention.model import AWAY, WantedFiles
from sexton.retention.purge import empty
from sexton.retention.undo import removed_with
from sexton.retention.undo import undo as bring_back
from sexton.store.opening import open_ledger
from sexton.wiring import Sexton
from tests.crash.removing_scene import (
    ALL,
    EVERYTHING,
    archiving,
    means_of,
    mend,
    sessions,
    settings,
)
from tests.kit.nursery import Report

MODULE = "tests.crash.removing_victims"
ACT = f"{MODULE}:act"
PATIENCE = 240.0


def trash(house: Sexton) -> None:
    house.apply(house.plan(gc=EVERYTHING))


def archive(house: Sexton) -> None:
    house.apply(archiving(house))


def files(house: Sexton) -> None:
    """By the default retention files go, and their sessions stay."""
    house.apply(house.plan())


def undo(house: Sexton) -> None:
    mend(house)
    for receipt in {each.receipt for each in house.ledger.vault.page(WantedFiles(), 0, ALL)}:
        house.undo(receipt)


def restore(house: Sexton) -> None:
    """One session after the other, each with what belongs to it, as a person asks for them."""
    mend(house)
    for session in [each for each in sessions(house) if each.state in AWAY]:
        files, wanted = removed_with(house.ledger, session)
        for back in bring_back(means_of(house), files, new_receipt(), wanted):
            assert back.trouble is None


def purge(house: Sexton) -> None:
    mend(house)
    files = house.ledger.vault.page(WantedFiles(), 0, ALL)
    for _ in empty(means_of(house), files, new_receipt(), deadline=END_OF_TIME):
        pass


def recover(house: Sexton) -> None:
    mend(house)


ACTS: Mapping[str, Callable[[Sexton], None]] = {
    "trash": trash,
    "archive": archive,
    "files": files,
    "undo": undo,
    "restore": restore,
    "purge": purge,
    "recover": recover,
}


def act(report: Report, url: str, place: str, what: str) -> None:
    """Open a house, wait for a file to appear, and do as told."""
    with Sexton(open_ledger(url), settings(Path(place))) as house:
        means_of(house).worker()  # registered before it begins, so that kills hit the work itself
        report.tell("ready")
        go = Path(place, "go")
        waiting = threading.Event()
        for _ in range(int(PATIENCE / 0.002)):
            if go.exists():
                break
            waiting.wait(0.002)
        ACTS[what](house)
        report.tell("done")
