"""Processes together never spend more than there is, and the dead hold nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sexton.errors import BudgetExceeded
from sexton.rules.rulebook import Rulebook
from sexton.settings.settings_values import Settings
from sexton.spending.model import Budget, Scope, Unit
from sexton.spending.policy import RunawayPolicy, SpendRules
from sexton.store.opening import open_ledger
from sexton.wiring import Sexton
from tests.kit.nursery import Nursery

PROCESSES = 8
PATIENCE = 240.0
VICTIMS = "tests.scenario.spend_victims"
CALM = RunawayPolicy(messages=None, tokens=None, tool_calls=None)


def opened(url: str, limit: int) -> Sexton:
    budget = Budget(name="all", scope=Scope.SOURCE, unit=Unit.TOKENS, limit=limit)
    rules = Rulebook(spend=SpendRules(budgets=(budget,), runaway=CALM))
    house = Sexton(open_ledger(url, patience=PATIENCE), Settings(rulebook=rules))
    house.publish()
    return house


@pytest.mark.slow
def test_64_threads_in_8_processes_never_spend_more_than_a_limit(
    engine_url: str, tmp_path: Path
) -> None:
    house = opened(engine_url, 2_000)
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    with Nursery(VICTIMS) as nursery:
        children = [
            nursery.start(f"{VICTIMS}:spend", engine_url, str(gate), "7") for _ in range(PROCESSES)
        ]
        for child in children:
            child.wait_for(lambda lines: "ready" in lines)
        with gate.open("wb"):
            assert [child.wait() for child in children] == [0] * PROCESSES
        spent = sum(int(child.lines()[-1].split()[1]) for child in children)
    assert spent == 2_000 // 7 * 7
    house.close()


def test_what_a_killed_process_held_is_given_back_by_the_next_sweep(engine_url: str) -> None:
    house = opened(engine_url, 1000)
    session = house.worker().session("other", source="shared")
    with Nursery(VICTIMS) as nursery:
        child = nursery.start(f"{VICTIMS}:hold", engine_url)
        child.wait_for(lambda lines: "holds" in lines)
        with session.turn() as turn:
            with pytest.raises(BudgetExceeded):
                turn.reserve(input_tokens=1)
            house.sweep()
            with pytest.raises(BudgetExceeded):
                turn.reserve(input_tokens=1)
            child.kill()
            house.sweep()
            turn.reserve(input_tokens=1000).commit(input_tokens=1000)
    house.close()


def test_without_a_keeper_it_is_given_back_to_whoever_needs_it(engine_url: str) -> None:
    house = opened(engine_url, 1000)
    session = house.worker().session("other", source="shared")
    with Nursery(VICTIMS) as nursery:
        child = nursery.start(f"{VICTIMS}:hold", engine_url)
        child.wait_for(lambda lines: "holds" in lines)
        with session.turn() as turn:
            with pytest.raises(BudgetExceeded):
                turn.reserve(input_tokens=1)
            child.kill()
            turn.reserve(input_tokens=1000).commit(input_tokens=1000)
    house.close()
