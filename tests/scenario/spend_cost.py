"""A program that counts how often the disk is synced by turns, with and without a guard."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import apsw

from sexton.liveness.policy import LivenessPolicy
from sexton.rules.rulebook import Rulebook
from sexton.sessions.agent_session import OpenSession
from sexton.settings.settings_values import Settings
from sexton.store.opening import open_ledger
from sexton.wiring import Sexton
from tests.kit.nursery import Report

TURNS = 20


class Counting(apsw.VFS):
    """The usual files, whose syncs are counted."""

    syncs = 0

    def __init__(self) -> None:
        super().__init__("counting", "unix", makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802  # the engine's name
        return CountedFile(name, flags)


class CountedFile(apsw.VFSFile):
    """A file whose syncs are counted."""

    def __init__(self, name: Any, flags: list[int]) -> None:
        super().__init__("unix", name, flags)

    def xSync(self, flags: int) -> None:  # noqa: N802  # the engine's name
        Counting.syncs += 1
        super().xSync(flags)


def guarded(session: OpenSession, number: int) -> None:
    with session.turn() as turn:
        grant = turn.reserve(input_tokens=900, max_output_tokens=100, model="any")
        grant.commit(input_tokens=870, output_tokens=45)
        with turn.tool("terminal", {"number": number}) as call:
            call.ok(f"{number}")


def plain(session: OpenSession, number: int) -> None:
    with session.turn():
        assert number >= 0


def count(report: Report, url: str) -> None:
    """Tell how many syncs a turn takes, plain and guarded."""
    disk = Counting()
    # A heartbeat syncs the disk too, whenever it is due.
    rules = Rulebook(liveness=LivenessPolicy(beat_every=timedelta(days=1)))
    house = Sexton(open_ledger(url), Settings(rulebook=rules))
    house.publish()
    session = house.worker().session("a", source="telegram")
    for way in (plain, guarded):
        way(session, 0)
        before = disk.syncs
        for number in range(1, TURNS + 1):
            way(session, number)
        report.tell(way.__name__, (disk.syncs - before) / TURNS)
    house.close()
