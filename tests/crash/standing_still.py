"""Processes that stand still in the middle of a transaction, after a statement of their own."""

from __future__ import annotations

import os
from contextlib import closing
from typing import Any

from sexton.settings.settings_values import Settings
from sexton.store.opening import open_database, open_ledger
from sexton.store.postgres import MESSAGE, PostgresTransaction
from sexton.wiring import Sexton
from tests.kit.nursery import Report

PATIENCE = 240.0


def reserve(report: Report, url: str, gate: str) -> None:
    """Stand still with the rows of a shared budget locked, then go on."""
    house = Sexton(open_ledger(url, patience=PATIENCE), Settings())
    session = house.worker().session("still", source="shared")
    with session.turn() as turn:
        _stand_still_after("take_slices", report, gate)
        turn.reserve(input_tokens=1)
        report.tell("granted")


def sweep(report: Report, url: str, gate: str) -> None:
    """Stand still with the grants of a dead worker locked."""
    house = Sexton(open_ledger(url, patience=PATIENCE), Settings())
    _stand_still_after("free_grants", report, gate)
    house.sweep()
    report.tell("swept")


def notify(report: Report, url: str, gate: str) -> None:
    """Stand still between two rows of one statement, of which the first fills a message."""
    with closing(open_database(url, patience=PATIENCE)) as database:
        rows = [
            Standing(letter("first", "x" * MESSAGE), report, ""),
            Standing(letter("second", ""), report, gate),
        ]
        database.write(lambda tx: tx.many("post_notice", rows))
        report.tell("posted")


class Standing(dict[str, Any]):
    """Values of a statement; whoever asks for them stands still, once."""

    def __init__(self, values: dict[str, Any], report: Report, gate: str) -> None:
        super().__init__(values)
        self._report, self._gate = report, gate

    def __getitem__(self, name: str) -> Any:
        if self._gate:
            gate, self._gate = self._gate, ""  # the second time it goes on
            self._report.tell("locked")
            os.close(os.open(gate, os.O_RDONLY))
        return super().__getitem__(name)


def letter(key: str, text: str) -> dict[str, Any]:
    """The values of a notification."""
    return {
        "key": key, "target": "phone", "event": "test", "title": "title", "text": text,
        "home": None, "session": None, "state": "pending", "now": 0,
    }  # fmt: skip


def hold(report: Report, url: str) -> None:
    """Hold some of the budget, and die of it."""
    house = Sexton(open_ledger(url, patience=PATIENCE), Settings())
    with house.worker().session("dead", source="shared").turn() as turn:
        turn.reserve(input_tokens=1)
        report.tell("holds")
        os._exit(9)


def _stand_still_after(name: str, report: Report, gate: str) -> None:
    run, stops = PostgresTransaction.all, [name]

    def stopping(self: PostgresTransaction, statement: str, /, **values: Any) -> Any:
        rows = run(self, statement, **values)
        if statement in stops:
            stops.clear()  # the second time it goes on
            report.tell("locked")
            os.close(os.open(gate, os.O_RDONLY))
        return rows

    PostgresTransaction.all = stopping  # type: ignore[method-assign]
