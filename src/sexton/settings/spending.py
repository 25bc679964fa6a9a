"""Which rules about spending do the settings make?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from sexton.core.record import as_dict, replace
from sexton.settings.quantities import parse_duration
from sexton.settings.settings_problems import Complaint
from sexton.settings.settings_schema import SettingsFile
from sexton.settings.spend_fields import BudgetFields, PriceFields
from sexton.spending.model import Budget, Scope, Unit
from sexton.spending.policy import (
    DEFAULTS,
    BreakerPolicy,
    Price,
    Prices,
    RunawayPolicy,
    SpendRules,
    usual_name,
)

LONGEST = timedelta(days=31)
"""What is spent in a rolling span is remembered for not much longer."""
_MILLISECOND = timedelta(milliseconds=1)


def spend_rules(fields: SettingsFile) -> SpendRules:
    """The rules; a budget of the same name takes the place of a default, or of an earlier one."""
    named = {budget.name: budget for budget in DEFAULTS}
    for each in fields.budgets:
        named |= {budget.name: budget for budget in budgets_of(each)}
    models = sorted(fields.prices.models.items())
    return SpendRules(
        budgets=tuple(named.values()),
        breaker=BreakerPolicy(**dict(fields.breaker)),
        runaway=RunawayPolicy(**dict(fields.runaway)),
        prices=Prices(
            models=tuple((name, _price(price)) for name, price in models),
            unknown=None if fields.prices.unknown is None else _price(fields.prices.unknown),
        ),
    )


def budgets_of(fields: BudgetFields) -> Iterator[Budget]:
    """One budget for each thing that an entry bounds."""
    per = None if fields.scope is Scope.DAY else fields.per
    bounded = {unit: getattr(fields, unit) for unit in Unit}
    several = sum(limit is not None for limit in bounded.values()) > 1
    for unit, limit in bounded.items():
        if limit is None:
            continue
        budget = Budget(
            name=(f"{fields.name}.{unit}" if several else fields.name) or "",
            scope=fields.scope,
            unit=unit,
            limit=_stored(unit, limit),
            action=fields.action,
            sources=tuple(sorted(fields.sources)),
            per=per,
        )
        yield budget if fields.name else replace(budget, name=_name(budget))


def written(budget: Budget) -> dict[str, Any]:
    """A budget as an entry of the settings."""
    limit: Any = budget.limit
    if budget.unit is Unit.USD:
        limit = budget.limit / 1_000_000
    elif budget.unit is Unit.WALL:
        limit = timedelta(milliseconds=budget.limit)
    facts = {"scope": budget.scope, budget.unit: limit, "action": budget.action}
    facts |= {"sources": list(budget.sources)} if budget.sources else {}
    facts |= {"per": budget.per} if budget.per else {}
    return facts if budget.name == _name(budget) else facts | {"name": budget.name}


def written_price(price: Price) -> dict[str, float | None]:
    """A price as an entry of the settings."""
    return {name.removeprefix("per_"): value for name, value in as_dict(price).items()}


def wrong_budgets(values: Any) -> Iterator[Complaint]:
    """Budgets that bound nothing, or what their scope can not count."""
    listed = values.get("budgets") if isinstance(values, dict) else None
    seen: set[str] = set()
    for place, given in enumerate(listed if isinstance(listed, list) else ()):
        if not isinstance(given, dict):
            continue
        where = ("budgets", place)
        if not any(given.get(unit) is not None for unit in Unit):
            yield Complaint(where, f"it bounds nothing; set one of {', '.join(Unit)}")
        scope = given.get("scope")
        if scope == Scope.TURN and given.get(Unit.MESSAGES) is not None:
            yield Complaint((*where, "messages"), "a turn does not count messages", at_key=True)
        if scope in (Scope.TURN, Scope.DAY) and given.get("per") is not None:
            yield Complaint((*where, "per"), f"a budget of a {scope} has no span", at_key=True)
        yield from _too_long(where, given)
        yield from _again(where, given, seen)


def _too_long(where: tuple[str, int], given: dict[str, Any]) -> Iterator[Complaint]:
    per = given.get("per")
    span = parse_duration(per) if isinstance(per, str) else None
    if span is not None and span > LONGEST:
        yield Complaint((*where, "per"), f"at most {LONGEST.days}d", at_key=True)


def _again(where: tuple[str, int], given: dict[str, Any], seen: set[str]) -> Iterator[Complaint]:
    """Two without a name that bound the same would be one, and silently the later."""
    bounded = () if given.get("name") else [each for each in Unit if given.get(each) is not None]
    for unit in bounded:
        about = f"{given.get('scope')} {unit} {given.get('per')} {given.get('sources')}"
        if about in seen:
            words = "an entry above bounds the same; give this one a name of its own"
            yield Complaint((*where, unit.value), words, at_key=True)
        seen.add(about)


def _name(budget: Budget) -> str:
    """What a budget is called that was given no name."""
    named = usual_name(budget.scope, budget.unit, budget.per)
    return f"{named}@{','.join(budget.sources)}" if budget.sources else named


def _price(fields: PriceFields) -> Price:
    return Price(per_input=fields.input, per_output=fields.output, per_cached=fields.cached)


def _stored(unit: Unit, limit: Any) -> int:
    if unit is Unit.USD:
        limit = round(limit * 1_000_000)
    stored: int = limit // _MILLISECOND if unit is Unit.WALL else limit
    return stored
