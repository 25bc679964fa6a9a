"""What may be spent, and what counts as a loop? The rules; what follows from them is elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from sexton.core.record import made, names, record
from sexton.spending.model import Act, Budget, Scope, Unit


def usual_name(scope: str, unit: str, per: timedelta | None = None) -> str:
    """What a budget is called that was given no name."""
    return f"{scope}.{unit}" + (f"/{span(per)}" if per else "")


def span(length: timedelta) -> str:
    """A length of time in the largest unit that fits: 90s, 5m, 1h."""
    seconds = int(length.total_seconds())
    for size, unit in ((3600, "h"), (60, "m")):
        if seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def _default(scope: Scope, unit: Unit, limit: int, per: timedelta | None = None) -> Budget:
    name = usual_name(scope, unit, per)
    return Budget(name=name, scope=scope, unit=unit, limit=limit, per=per)


DEFAULTS = (
    _default(Scope.TURN, Unit.ITERATIONS, 200),
    _default(Scope.TREE, Unit.TOKENS, 5_000_000, timedelta(hours=1)),
)
"""In force unless a budget of the same name takes the place of one."""


@record
class BreakerPolicy:
    """After how many failures or repetitions in a row the model is told; at the last, stopped."""

    warn_at: tuple[int, ...] = (3, 6, 9)
    cool_down: timedelta = timedelta(seconds=60)


@record
class RunawayPolicy:
    """How much of each in one minute is a loop rather than a conversation; None: any is fine.

    Streams and imports write many messages, so those stop nothing unless that was set: from
    `warn_messages` on, the journal says so.
    """

    messages: int | None = None
    tokens: int | None = 1_000_000
    tool_calls: int | None = 120
    warn_messages: int | None = 150


@record
class Price:
    """Dollars for a million tokens of each kind; cached ones cost as much as input if not said."""

    per_input: float
    per_output: float
    per_cached: float | None = None


@record
class Prices:
    """Prices of one's own by model, before any table, and what a model in neither costs."""

    models: tuple[tuple[str, Price], ...] = ()
    unknown: Price | None = None


@record
class SpendRules:
    """Everything that bounds what agents spend."""

    budgets: tuple[Budget, ...] = DEFAULTS
    breaker: BreakerPolicy = made(BreakerPolicy)
    runaway: RunawayPolicy = made(RunawayPolicy)
    prices: Prices = made(Prices)

    @property
    def counts_messages(self) -> bool:
        """Whether a budget counts messages; a session counts its own by itself."""
        own = (Scope.TURN, Scope.SESSION)
        return any(
            each.unit is Unit.MESSAGES and (each.scope not in own or each.per)
            for each in self.budgets
        )


def spend_rules(stored: Mapping[str, Any] | None) -> SpendRules:
    """The rules from their stored form; what an older Sexton did not store keeps its default."""
    if stored is None:
        return SpendRules()
    breaker, prices = stored["breaker"], stored["prices"]
    return SpendRules(
        budgets=tuple(map(_budget, stored["budgets"])),
        breaker=BreakerPolicy(
            warn_at=tuple(breaker["warn_at"]), cool_down=timedelta(seconds=breaker["cool_down"])
        ),
        runaway=_runaway(stored["runaway"]),
        prices=Prices(
            models=tuple((name, Price(**price)) for name, price in prices["models"]),
            unknown=None if prices["unknown"] is None else Price(**prices["unknown"]),
        ),
    )


def _runaway(stored: Mapping[str, Any]) -> RunawayPolicy:
    """An older Sexton stored its default as a limit on messages that nobody set."""
    usual = RunawayPolicy()
    known = {name: stored[name] for name in names(RunawayPolicy) if name in stored}
    if "warn_messages" not in stored:
        is_default = stored["messages"] == usual.warn_messages
        known["warn_messages"] = usual.warn_messages if is_default else None
        known["messages"] = None if is_default else stored["messages"]
    return RunawayPolicy(**known)


def _budget(stored: Mapping[str, Any]) -> Budget:
    return Budget(
        name=stored["name"],
        scope=Scope(stored["scope"]),
        unit=Unit(stored["unit"]),
        limit=stored["limit"],
        action=Act(stored["action"]),
        sources=tuple(stored["sources"]),
        per=None if stored["per"] is None else timedelta(seconds=stored["per"]),
    )
