"""The session that burned is stopped in time, and a month of ordinary traffic is not."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from sexton.errors import BudgetExceeded, SextonError
from sexton.rules.rulebook import Rulebook
from sexton.sessions.agent_session import OpenSession
from sexton.sessions.agent_worker import AgentWorker
from sexton.settings.settings_values import Settings
from sexton.spending.policy import RunawayPolicy, SpendRules
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton

MESSAGES, SECONDS, CALLS = 602, 107.0, 209
DAYS = 30


@pytest.fixture
def worker(tmp_path: Path, manual_clock: ManualClock) -> Iterator[AgentWorker]:
    memory = Path("/dev/shm") if Path("/dev/shm").is_dir() else tmp_path
    path = memory / f"sexton-{tmp_path.name}-{id(manual_clock)}.db"
    rules = Rulebook(spend=SpendRules(runaway=RunawayPolicy(messages=150)))
    house = Sexton(open_ledger(str(path)), Settings(rulebook=rules), clock=manual_clock)
    house.publish()
    yield house.worker()
    house.close()
    for left in memory.glob(f"{path.name}*"):
        left.unlink()


def burn(session: OpenSession, clock: ManualClock) -> float:
    """The seed, one iteration after the other; after how many seconds it was stopped."""
    pause = SECONDS / CALLS
    for number in range(CALLS):
        with session.turn() as turn:
            grant = turn.reserve(input_tokens=450, max_output_tokens=100)
            grant.commit(input_tokens=450, output_tokens=40)
            with turn.tool("terminal", {"number": number}) as call:
                call.ok(f"output {number}")
            for _ in range(
                round((number + 1) * MESSAGES / CALLS) - round(number * MESSAGES / CALLS)
            ):
                session.append(role="assistant", content="again")
        clock.advance(pause)
    return SECONDS


@pytest.mark.parametrize(("source", "is_open"), [("telegram", True), ("cron", False)])
def test_the_seed_is_stopped_within_thirty_seconds(
    worker: AgentWorker, manual_clock: ManualClock, source: str, is_open: bool
) -> None:
    began = manual_clock.monotonic()
    session = worker.session("seed", source=source)
    with pytest.raises(BudgetExceeded) as caught:
        burn(session, manual_clock)
    assert manual_clock.monotonic() - began < 30
    assert caught.value.budget == "runaway.messages"
    [now] = worker._desk.ledger.index.find("native", session.id)
    assert now.is_open is is_open
    if is_open:
        manual_clock.advance(60)
        with session.turn():
            pass


def test_22_million_tokens_in_two_hours_are_stopped_after_five(
    worker: AgentWorker, manual_clock: ManualClock
) -> None:
    session = worker.session("burning", source="telegram")
    spent = 0

    def spend() -> None:
        with session.turn() as turn:
            grant = turn.reserve(input_tokens=91_667)
            grant.commit(input_tokens=91_667)

    while spent + 91_667 <= 5_000_000:
        spend()
        spent += 91_667
        manual_clock.advance(30)
    with pytest.raises(BudgetExceeded) as caught:
        spend()
    assert caught.value.budget == "tree.tokens/1h"


def ordinary_day(worker: AgentWorker, clock: ManualClock, dice: random.Random) -> int:
    """People who talk, jobs that run, tools that fail now and then; how many turns."""
    turns = 0
    for key in range(dice.randint(2, 5)):
        source = dice.choice(["telegram", "discord", "cli", "cron"])
        session = worker.session(f"{source}:{key}:{clock.now()}", source=source)
        for _ in range(dice.randint(1, 8)):
            turns += 1
            with session.turn() as turn:
                session.append(role="user", content="please")
                for _ in range(min(25, int(dice.expovariate(1 / 4)) + 1)):
                    iteration(session, turn, clock, dice)
                session.append(role="assistant", content="done")
            clock.advance(dice.uniform(5, 900))
        clock.advance(dice.uniform(60, 7200))
    return turns


def iteration(session: OpenSession, turn: object, clock: ManualClock, dice: random.Random) -> None:
    tokens = dice.randint(2_000, 60_000)
    grant = turn.reserve(input_tokens=tokens, max_output_tokens=4_000)  # type: ignore[attr-defined]
    clock.advance(dice.uniform(1.5, 12))
    grant.commit(input_tokens=tokens // 10, cached_tokens=tokens * 9 // 10, output_tokens=400)
    with turn.tool(dice.choice(["read", "edit", "search"]), dice.random()) as call:  # type: ignore[attr-defined]
        clock.advance(dice.expovariate(1 / 2))
        if dice.random() < 0.15:
            call.error(f"failed: {dice.random()}")
        else:
            call.ok(f"result {dice.random()}")
    session.append_many(
        [{"role": "assistant", "content": "call"}, {"role": "tool", "content": "r"}]
    )


@pytest.mark.slow
def test_a_month_of_ordinary_traffic_trips_nothing(
    worker: AgentWorker, manual_clock: ManualClock
) -> None:
    dice = random.Random(7)
    turns = 0
    for _ in range(DAYS):
        try:
            turns += ordinary_day(worker, manual_clock, dice)
        except SextonError as trouble:
            raise AssertionError(f"after {turns} turns") from trouble
    assert turns > 300
    told = worker._desk.ledger.journal.page(None, None, None, 10_000)
    assert {each.action for each in told} <= {"end", "publish"}
