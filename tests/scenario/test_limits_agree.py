"""Everybody who asks whether a limit is reached gets the same answer."""

from __future__ import annotations

import pytest

from sexton.errors import BudgetExceeded
from sexton.rules.rulebook import Rulebook
from sexton.settings.settings_values import Settings
from sexton.spending.budget_standing import explained, standings, who
from sexton.spending.budgets import is_reached
from sexton.spending.model import Act, Budget, Scope, Unit
from sexton.spending.policy import RunawayPolicy, SpendRules
from sexton.spending.runaway import Beat, excess
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from tests.scenario.fleet import Machine

LIMIT = 100


@pytest.mark.parametrize("spent", [LIMIT - 1, LIMIT, LIMIT + 1])
def test_all_who_ask_whether_a_limit_is_reached_agree(
    engine_url: str, manual_clock: ManualClock, spent: int
) -> None:
    calm = RunawayPolicy(messages=None, tokens=None, tool_calls=None)
    own = Budget(name="own", scope=Scope.SESSION, unit=Unit.TOKENS, limit=LIMIT)
    warns = Budget(name="turn", scope=Scope.TURN, unit=Unit.TOKENS, limit=LIMIT, action=Act.WARN)
    rules = Rulebook(spend=SpendRules(budgets=(own, warns), runaway=calm))
    house = Sexton(
        open_ledger(engine_url),
        Settings(rulebook=rules),
        clock=manual_clock,
        processes=Machine("host"),
    )
    house.publish()
    worker = house.worker()
    session = worker.session("a", source="telegram")
    answers = [is_reached(LIMIT, spent)]
    with worker.session("b", source="telegram").turn() as turn:
        spend = turn._running()
        spend._count_own({Unit.TOKENS: spent})
        answers.append(("turn", True) in spend._near)
    with session.turn() as turn:
        turn.reserve(input_tokens=1).commit(input_tokens=spent)
        try:
            turn.reserve(input_tokens=1).release()
            answers.append(False)
        except BudgetExceeded:
            answers.append(True)
    try:
        session.turn().__enter__().__exit__(None, None, None)
        answers.append(False)
    except BudgetExceeded:
        answers.append(True)
    [found] = house.ledger.index.find("native", session.id)
    estate = house.estate()
    [standing] = standings(estate, who(estate, found))
    answers += [word != "kept" for _, word, _ in explained(standing, "telegram")]
    policy = RunawayPolicy(messages=None, tokens=LIMIT, tool_calls=None)
    answers.append(excess(Beat(0.0, tokens=spent), policy) is not None)
    assert answers == [spent >= LIMIT] * len(answers)
    house.close()
