"""Processes that spend from one budget together, and one that is killed while it holds some."""

from __future__ import annotations

import os
import threading
import time

from sexton.errors import BudgetExceeded
from sexton.settings.settings_values import Settings
from sexton.store.opening import open_ledger
from sexton.wiring import Sexton
from tests.kit.nursery import Report

THREADS = 64
PATIENCE = 240.0


def spend(report: Report, url: str, gate: str, tokens: str) -> None:
    """Spend from many threads until the budget is spent; what was granted and used in all."""
    house = Sexton(open_ledger(url, patience=PATIENCE), Settings())
    session = house.worker().session(f"mine {os.getpid()}", source="shared")
    used: list[int] = []
    report.tell("ready")
    os.close(os.open(gate, os.O_RDONLY))

    def work() -> None:
        try:
            while True:
                with session.turn() as turn:
                    turn.reserve(input_tokens=int(tokens)).commit(input_tokens=int(tokens))
                used.append(int(tokens))
        except BudgetExceeded:
            return

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report.tell("spent", sum(used))
    house.close()


def hold(report: Report, url: str) -> None:
    """Hold the whole budget, and wait to be killed."""
    house = Sexton(open_ledger(url, patience=PATIENCE), Settings())
    session = house.worker().session("killed", source="shared")
    with session.turn() as turn:
        turn.reserve(input_tokens=1000)
        report.tell("holds")
        time.sleep(600)
