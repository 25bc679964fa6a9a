"""What does a turn cost with a guard, and without? Processor time, beside a durable write more."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from itertools import count

from sexton.core.clock import SystemClock
from sexton.rules.rulebook import Rulebook
from sexton.sessions.agent_session import OpenSession
from sexton.sessions.agent_worker import AgentWorker
from sexton.settings.settings_values import Settings
from sexton.spending.model import Budget, Scope, Unit
from sexton.spending.policy import BreakerPolicy, RunawayPolicy, SpendRules
from sexton.spending.tool_watch import ToolCall, ToolWatch
from sexton.store.opening import open_ledger
from sexton.wiring import Sexton

NUMBERS = count()
ROUNDS = 7
HOURLY = Budget(
    name="tree.tokens/1h",
    scope=Scope.TREE,
    unit=Unit.TOKENS,
    limit=10**12,
    per=timedelta(hours=1),
)
RULES = SpendRules(
    budgets=(HOURLY,), runaway=RunawayPolicy(messages=None, tokens=10**12, tool_calls=None)
)


def more_for_a_guard(ledger: str, turns: int) -> float:
    """Seconds of processor time by which a guarded turn exceeds a plain one with a durable write.

    The least of several rounds that take turns, so that what else the machine does counts little.
    """
    house = Sexton(open_ledger(ledger), Settings(rulebook=Rulebook(spend=RULES)))
    house.publish()
    worker = house.worker()
    session = worker.session(f"guard {next(NUMBERS)}", source="telegram")
    ways = (partial(plain, worker, session), partial(guarded, worker, session))
    rounds = [[_each(way, turns) for way in ways] for _ in range(ROUNDS)]
    house.close()
    less, more = map(min, zip(*rounds, strict=True))
    return float(more - less)


def plain(worker: AgentWorker, session: OpenSession) -> None:
    """A turn in which something small is written."""
    with session.turn():
        worker._desk.ledger.reaping.beat(worker.id)


def guarded(worker: AgentWorker, session: OpenSession) -> None:
    """A turn with one call of a model and one of a tool."""
    assert worker.is_open
    with session.turn() as turn:
        grant = turn.reserve(input_tokens=900, max_output_tokens=100, model="any")
        grant.commit(input_tokens=870, output_tokens=45)
        number = next(NUMBERS)
        with turn.tool("terminal", {"command": f"ls {number}"}) as call:
            call.ok(f"file {number}")


class Nobody:
    """Who is told of a breaker and does nothing."""

    def before_tool(self) -> None:
        """Nothing is bounded."""

    def tell(self, advice: str) -> None:
        """Nobody listens."""

    def stopped(self, code: str, why: str) -> None:
        """Nobody minds."""


def tool_call(calls: int) -> float:
    """Seconds of processor time that the breaker and the trail take for one call."""
    watch, nobody = ToolWatch(SystemClock(), BreakerPolicy), Nobody()

    def use() -> None:
        number = next(NUMBERS)
        with ToolCall(watch, nobody, "terminal", {"command": "ls", "number": number}) as call:
            call.ok(f"file {number}")

    return min(_each(use, calls) for _ in range(ROUNDS))


def _each(work: Callable[[], object], times: int) -> float:
    start = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - start) / times
