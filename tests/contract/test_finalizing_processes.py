"""Keepers in processes of their own get each piece of work once, also when one is killed."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from sexton.store.opening import open_ledger
from tests.contract.ledger_contract_finalizing_samples import LOG, claim, ended, owed, rule
from tests.contract.ledger_contract_reviving import worker
from tests.contract.ledger_contract_samples import at, enrol
from tests.kit.nursery import Nursery, Report

KEEPERS = 4
SESSIONS = 60


def keep(report: Report, url: str, name: str, gate: str) -> None:
    """Take work on, piece by piece, from the moment the gate opens; do all of it but the last."""
    ledger = open_ledger(url)
    report.tell("ready")
    os.close(os.open(gate, os.O_RDONLY))
    while taken := claim(ledger, name, limit=3):
        for each in taken:
            report.tell("taken", each.ref)
            if len(taken) == 3:
                ledger.finalizing.finish(each, "fine", at(3600))
    report.tell("over")
    ledger.close()


def test_processes_that_take_work_on_together_get_each_piece_once(
    engine_url: str, tmp_path: Path
) -> None:
    ledger = open_ledger(engine_url)
    rule(ledger, LOG)
    for _ in range(SESSIONS):
        ended(ledger)
    names = [enrol(ledger, f"keeper {number}") for number in range(KEEPERS)]
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    target = "tests.contract.test_finalizing_processes:keep"
    with Nursery("tests.contract.test_finalizing_processes") as nursery:
        children = [nursery.start(target, engine_url, name, str(gate)) for name in names]
        for child in children:
            child.wait_for(lambda lines: "ready" in lines)
        with gate.open("wb"):
            assert [child.wait() for child in children] == [0] * KEEPERS
        told = [line.split()[1] for child in children for line in child.lines() if " " in line]
    assert len(told) == len(set(told)) == SESSIONS
    assert {each.claim for each in owed(ledger)} == {1}
    ledger.close()


def test_what_a_killed_process_had_taken_on_is_done_by_the_next(
    engine_url: str, tmp_path: Path
) -> None:
    ledger = open_ledger(engine_url)
    rule(ledger, LOG)
    for _ in range(SESSIONS):
        ended(ledger)
    enrol(ledger, "killed")
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    with Nursery("tests.contract.test_finalizing_processes") as nursery:
        target = "tests.contract.test_finalizing_processes:keep"
        child = nursery.start(target, engine_url, "killed", str(gate))
        child.wait_for(lambda lines: "ready" in lines)
        with gate.open("wb"):
            child.wait_for(lambda lines: len(lines) > 7)
        child.kill()
    ledger.reaping.declare([(worker(ledger, "killed"), "process_gone: killed")], at(1))
    ledger.finalizing.free(at(3600))
    for taken in claim(ledger, enrol(ledger, "next")):
        assert ledger.finalizing.finish(taken, "fine", at(3600))
    assert Counter(each.state for each in owed(ledger)) == {"done": SESSIONS}
    ledger.close()
