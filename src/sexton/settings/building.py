"""The values that settings become once they are read: policies, finalizers and the rest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from sexton.core.record import names, replace, settings_of
from sexton.liveness.policy import LivenessPolicy
from sexton.processes.handling import ProcessPolicy
from sexton.resets.policy import ResetPolicy
from sexton.retention.disk_budget import DiskBudget
from sexton.retention.policy import Retention, RetentionClass
from sexton.rules.rulebook import ResetRule, Rulebook
from sexton.settings.budget_entries import BudgetEntry
from sexton.settings.finalizer_settings import finalizer_of, owing, usual
from sexton.settings.home_settings import named_homes, resolved
from sexton.settings.settings_values import (
    ArchiveSettings,
    FinalizerSetting,
    GcSettings,
    HomeSetting,
    KeeperSettings,
    NotifySetting,
    ServeSettings,
    Settings,
    TrashSettings,
)
from sexton.spending.model import Budget
from sexton.spending.policy import (
    DEFAULTS,
    BreakerPolicy,
    Price,
    Prices,
    RunawayPolicy,
    SpendRules,
)

T = TypeVar("T")
Written = Mapping[str, Any]


def settings_from(written: Written, beside: Path, environ: Mapping[str, str]) -> Settings:
    """The settings that say what was written; relative paths are beside a directory."""

    def section(name: str, kind: type[T]) -> T:
        return kind(**located(kind, written.get(name, {})))

    def located(kind: type, values: Written) -> Written:
        declared = settings_of(kind)
        return {
            name: resolved(value, beside, environ)
            if value is not None and declared[name].kind in ("directory", "file")
            else value
            for name, value in values.items()
        }

    entries = [BudgetEntry(**entry) for entry in written.get("budgets", ())]
    finalizers = tuple(
        finalizer_of(located(FinalizerSetting, usual(entry["kind"]) | entry))
        for entry in written.get("finalizers", ())
    )
    homes = [located(HomeSetting, entry) for entry in written.get("homes", ())]
    reset, rules = _resets(written.get("reset", {}))
    return Settings(
        rulebook=Rulebook(
            reset=reset,
            reset_rules=rules,
            liveness=section("liveness", LivenessPolicy),
            finalizers=tuple(map(owing, finalizers)),
            processes=section("processes", ProcessPolicy),
            spend=SpendRules(
                budgets=_budgets(entries),
                breaker=section("breaker", BreakerPolicy),
                runaway=section("runaway", RunawayPolicy),
                prices=_prices(written.get("prices", {})),
            ),
            retention=retention_of(written.get("retention", {})),
        ),
        homes=tuple(named_homes(homes)),
        finalizers=finalizers,
        notify=section("notify", NotifySetting),
        keeper=section("keeper", KeeperSettings),
        disk=section("disk", DiskBudget),
        archive=section("archive", ArchiveSettings),
        trash=section("trash", TrashSettings),
        gc=section("gc", GcSettings),
        serve=section("serve", ServeSettings),
        budget_names=tuple(tuple(budget.name for budget in entry.budgets()) for entry in entries),
    )


def retention_of(written: Written) -> Retention:
    """What is kept how long, with all that classes inherit."""
    general = _changed(RetentionClass(), written)
    classes = tuple(_changed(general, entry) for entry in written.get("classes", ()))
    return _changed(Retention(general=general), {**written, "classes": classes})


def _resets(written: Written) -> tuple[ResetPolicy, tuple[ResetRule, ...]]:
    default = _changed(ResetPolicy(), written)
    rules = (
        _changed(ResetRule(policy=_changed(default, rule)), rule)
        for rule in written.get("rules", ())
    )
    return default, tuple(rules)


def _budgets(entries: list[BudgetEntry]) -> tuple[Budget, ...]:
    """A budget takes the place of a default, or of an earlier one, of the same name."""
    named = {budget.name: budget for budget in DEFAULTS}
    for entry in entries:
        named |= {budget.name: budget for budget in entry.budgets()}
    return tuple(named.values())


def _prices(written: Written) -> Prices:
    unknown = written.get("unknown")
    return Prices(
        models=tuple((name, Price(**price)) for name, price in written.get("models", ())),
        unknown=None if unknown is None else Price(**unknown),
    )


def _changed(inherited: T, written: Written) -> T:
    """The inherited record with what was set instead."""
    known = names(type(inherited))
    return replace(inherited, **{name: value for name, value in written.items() if name in known})
