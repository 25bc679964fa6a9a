"""What is spent, by whom, and where it is counted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from sexton.core.record import record


class Scope(StrEnum):
    """What a budget is for: each turn, session, tree of sessions or source, or a whole day."""

    TURN = "turn"
    SESSION = "session"
    TREE = "tree"
    SOURCE = "source"
    DAY = "day"


class Act(StrEnum):
    """What happens at a limit."""

    WARN = "warn"
    PAUSE = "pause"
    RESET = "reset"
    KILL = "kill"


class Unit(StrEnum):
    """What is counted; money in millionths of a dollar, time in milliseconds."""

    TOKENS = "tokens"
    INPUT = "input_tokens"
    OUTPUT = "output_tokens"
    CACHED = "cached_tokens"
    REASONING = "reasoning_tokens"
    USD = "usd"
    ITERATIONS = "iterations"
    TOOL_CALLS = "tool_calls"
    MESSAGES = "messages"
    WALL = "wall"


@record
class Budget:
    """A limit on one thing; without `sources` for every source, with `per` in any such span."""

    name: str
    scope: Scope
    unit: Unit
    limit: int
    action: Act = Act.PAUSE
    sources: tuple[str, ...] = ()
    per: timedelta | None = None

    def includes(self, source: str) -> bool:
        """Whether sessions of a source are bounded by it."""
        return not self.sources or source in self.sources


@record(kw_only=False)
class Meter:
    """Where something is counted: what for, of what, and in which period.

    The period is empty for ever, a day like 2026-11-16, or a rolling span like 3600s.
    """

    scope: Scope
    subject: str
    unit: Unit
    period: str = ""


@record
class Bound:
    """A meter, the slice of it that is spent from now, and the budgets that limit it.

    What was spent from `since` through `ahead` counts; a meter without slices has one, at 0.
    """

    meter: Meter
    budgets: tuple[Budget, ...]
    start: int = 0
    since: int = 0
    ahead: int = 0
    until: datetime | None = None

    def limit(self, budgets: Sequence[Budget] | None = None) -> Budget | None:
        """The lowest of its budgets that does more than warn."""
        hard = [each for each in budgets or self.budgets if each.action is not Act.WARN]
        return min(hard, key=lambda each: each.limit, default=None)


@record(kw_only=False)
class Who:
    """A session as budgets see it; a tree is named by the row of its root."""

    session: int
    root: int
    source: str
