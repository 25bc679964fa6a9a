"""When do tools that keep failing stop, and who may try again first?

A breaker is a value; each function returns the next one. Times are seconds of running time.
"""

from __future__ import annotations

from collections.abc import Sequence

from sexton.core.record import record, replace
from sexton.spending.policy import BreakerPolicy

NAMED = 3
"""So many of the tools that failed are named."""


@record
class Breaker:
    """Errors in a row, the tools that made them, and while it is open since when and why."""

    errors: int = 0
    tools: tuple[str, ...] = ()
    opened_at: float | None = None
    probed_at: float | None = None
    why: str = ""


CLOSED = Breaker()


def admit(state: Breaker, policy: BreakerPolicy, now: float) -> Breaker | None:
    """The breaker after letting one call through, or None: it is open.

    When it has cooled down one call goes through to try. If nothing is heard of that one for as
    long again, another may.
    """
    if state.opened_at is None:
        return state
    last = max(state.opened_at, state.probed_at or state.opened_at)
    if now - last < policy.cool_down.total_seconds():
        return None
    return replace(state, probed_at=now)


def closed_until(state: Breaker, policy: BreakerPolicy) -> float:
    """When the next call may go through."""
    last = max(state.opened_at or 0.0, state.probed_at or 0.0)
    return last + policy.cool_down.total_seconds()


def succeeded(state: Breaker) -> Breaker:
    """After a call that worked: what was open is closed again."""
    return state if state is CLOSED else CLOSED


def failed(state: Breaker, tool: str, policy: BreakerPolicy, now: float) -> Breaker:
    """After a call that failed: one error more, and open at the last warning."""
    tools = (*(each for each in state.tools if each != tool), tool)[-NAMED:]
    after = replace(state, errors=state.errors + 1, tools=tools)
    if after.errors >= policy.warn_at[-1]:
        return opened(after, f"{after.errors} tool calls in a row failed", now)
    return after


def opened(state: Breaker, why: str, now: float) -> Breaker:
    """The breaker, open from now on."""
    return replace(state, opened_at=now, probed_at=None, why=why)


def level(times: int, warn_at: Sequence[int]) -> int:
    """How far something has gone that escalates: 0 is nothing, the last is the end."""
    return sum(times >= step for step in warn_at)


def warning(state: Breaker, policy: BreakerPolicy) -> str | None:
    """What to tell the model after this many errors in a row, if anything."""
    if state.errors not in policy.warn_at and state.errors < policy.warn_at[-1]:
        return None
    step = level(state.errors, policy.warn_at)
    head = f"{state.errors} tool calls in a row failed ({', '.join(state.tools)}). "
    if step == len(policy.warn_at):
        return head + STOPPED
    return head + _ADVICE[min(step, len(_ADVICE)) - 1]


STOPPED = (
    "Tools are stopped for now. Do not call another one: tell the user what you tried, what each "
    "error said and what you need, and ask how to go on."
)
_READ = (
    "Read the last error before you go on: check names, paths and arguments, and change something "
    "instead of repeating the call."
)
_TURN = (
    "What you are doing does not work. Take another way: another tool, a smaller step, or look at "
    "the state of things first. A few more failures and tools are stopped."
)
_ADVICE = (_READ, _TURN)
