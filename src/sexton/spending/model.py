"""What is spent, by whom, and where it is counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

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


class Standing(NamedTuple):
    """How a meter stands; `oldest` is the first slice of a rolling span that holds spending.

    Whoever only looks learns when people were last told that somebody was stopped by it.
    """

    counter: int
    bound: Bound
    spent: int
    reserved: int
    added: int
    oldest: int | None
    stopped_at: datetime | None = None

    @property
    def used(self) -> int:
        """What counts against the limit, what was added to it taken off."""
        return self.spent + self.reserved - self.added


class Hold(NamedTuple):
    """What a grant holds of one slice of a meter."""

    counter: int
    start: int
    unit: str
    amount: int


class Slot(NamedTuple):
    """The name of a grant: a random slot of a worker, and a number that rises with each use.

    A slot may be used again as soon as its grant is settled.
    """

    slot: str
    number: int


@record
class Spend:
    """What somebody wants to spend: some at once, some `held` until it is settled.

    What is not `limited` has happened already and is counted whatever the limits are. With an
    `epoch` the session must still be open under it. The grant is called `slot`, or gets a new name.
    """

    who: Who
    worker: str
    bounds: tuple[Bound, ...]
    held: Mapping[Unit, int] | None = None
    at_once: Mapping[Unit, int] | None = None
    limited: bool = True
    epoch: int | None = None
    slot: Slot | None = None


class Granted(NamedTuple):
    """What is held, and for whom, with all that it takes to settle it after the ledger lost it.

    `places` are the slices of meters that count what was really used; None while nobody knows
    whether anything is held, as the ledger's answer has not arrived.
    """

    name: Slot
    session: int
    worker: str
    made_at: datetime
    places: tuple[tuple[Meter, int], ...] | None = ()


class Freed(NamedTuple):
    """What a worker that is gone held for a session, and does not any more."""

    worker: str
    session: str | None
    held: Mapping[Unit, int]


@record
class Taken:
    """A spend that fitted into every budget; `grant` is None where nothing is held."""

    grant: Granted | None
    standings: tuple[Standing, ...]


@record
class Refused:
    """A spend that changed nothing, as one budget had no room for it."""

    standing: Standing
    budget: Budget


class Mark(NamedTuple):
    """What was told about a meter, once for each limit and since when at the latest."""

    counter: int
    is_stop: bool
    limit: int
    before: datetime
