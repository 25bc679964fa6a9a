"""What are the effective settings, as a file that says the same?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from pydantic import BaseModel

from sexton.core.message import one_line
from sexton.liveness.policy import LivenessPolicy
from sexton.rules.rulebook import ResetRule
from sexton.settings.disk_fields import (
    ArchiveFields,
    ClassFields,
    DiskFields,
    GcFields,
    KeepingFields,
    TrashFields,
)
from sexton.settings.document import plain
from sexton.settings.finalizer_fields import FinalizerFields, NotifyFields
from sexton.settings.finalizer_settings import BELONGS
from sexton.settings.home_fields import HomeFields
from sexton.settings.process_fields import ProcessFields
from sexton.settings.serve_fields import ServeFields
from sexton.settings.settings_schema import (
    KeeperFields,
    LivenessFields,
    PolicyFields,
    kind_of,
)
from sexton.settings.settings_values import FinalizerKind, FinalizerSetting, HomeSetting, Settings
from sexton.settings.spend_fields import BreakerFields, BudgetFields, RunawayFields
from sexton.settings.spending import written, written_price
from sexton.settings.vocabulary import DURATION
from sexton.spending.model import Budget
from sexton.spending.policy import Prices

DEFAULT = "default"
"""The place of a value that nobody has set."""
_FROM = "\0"
"""Between a line and its place while lines are made; YAML never writes it."""


class Line(NamedTuple):
    """A line of settings; `place` says where its value comes from, None where that is not told."""

    text: str
    place: str | None


def show(settings: Settings) -> str:
    """Every setting with its value and, behind it, where that comes from.

    Loading the text gives the same settings again. Of a rule, only what differs is shown.
    """
    return "".join(
        f"{line.text}\n" if line.place is None else f"{line.text:<40}  # {line.place}\n"
        for line in lines(settings)
    )


def lines(settings: Settings) -> Iterator[Line]:
    """The same line by line."""
    for each in _lines(settings):
        text, _, place = each.partition(_FROM)
        yield Line(text, place or None)


def _lines(settings: Settings) -> Iterator[str]:
    rules = settings.rulebook
    yield "homes:" if settings.homes else "homes: []"
    for home in settings.homes:
        yield from _item(_home(home))
    yield from _section(settings, "reset", _values(PolicyFields, rules.reset))
    yield "  rules:" if rules.reset_rules else "  rules: []"
    for rule in rules.reset_rules:
        yield from (f"  {line}" for line in _item(_rule(settings, rule)))
    yield from _section(settings, "liveness", _liveness_values(rules.liveness))
    yield from _section(settings, "processes", _values(ProcessFields, rules.processes))
    yield "finalizers:" if settings.finalizers else "finalizers: []"
    for finalizer in settings.finalizers:
        yield from _item(dict(_finalizer_values(finalizer)))
    yield from _later_lines(settings)


def _section(settings: Settings, name: str, said: Iterable[tuple[str, Any]]) -> Iterator[str]:
    yield f"{name}:"
    for each, value in said:
        yield _noted(settings, name, each, value)


def _later_lines(settings: Settings) -> Iterator[str]:
    rules = settings.rulebook
    yield "budgets:"
    for budget in rules.spend.budgets:
        yield from _item(dict(_budget(budget)))
    for section, values in (
        ("prices", _prices(rules.spend.prices)),
        ("breaker", _values(BreakerFields, rules.spend.breaker)),
        ("runaway", _values(RunawayFields, rules.spend.runaway)),
        ("notify", _values(NotifyFields, settings.notify)),
    ):
        yield from _section(settings, section, values)
    yield from _retention(settings)
    for section, model in _LOCAL.items():
        yield from _section(settings, section, _values(model, getattr(settings, section)))


_LOCAL: Mapping[str, type[BaseModel]] = {
    "disk": DiskFields,
    "archive": ArchiveFields,
    "trash": TrashFields,
    "gc": GcFields,
    "keeper": KeeperFields,
    "serve": ServeFields,
}
"""The sections that every keeper has for itself."""


def _retention(settings: Settings) -> Iterator[str]:
    retention = settings.rulebook.retention
    general = dict(_values(KeepingFields, retention.general))
    yield from _section(settings, "retention", general.items())
    yield _noted(settings, "retention", "allow_remove_all", retention.allow_remove_all)
    yield "  classes:" if retention.classes else "  classes: []"
    for each in retention.classes:
        own = {
            name: value
            for name, value in _values(ClassFields, each)
            if value != general.get(name, "keep")
        }
        yield from (f"  {line}" for line in _item({"sources": own.pop("sources")} | own))


def _values(model: type[BaseModel], said: object) -> Iterator[tuple[str, Any]]:
    """What a record says, as it is written in the section that a model describes."""
    for name, field in model.model_fields.items():
        kind, value = kind_of(field), getattr(said, name)
        if isinstance(value, Path):
            yield name, str(value)
        else:
            yield name, kind.show(value) if kind else [_word(each) for each in value]


def _word(value: object) -> object:
    return str(value) if isinstance(value, StrEnum) else value


def _liveness_values(policy: LivenessPolicy) -> Iterator[tuple[str, Any]]:
    bounds = {source: DURATION.show(span) for source, span in policy.inactivity_bound}
    for name, value in _values(LivenessFields, policy):
        yield name, bounds if name == "inactivity_bound" else value


def _finalizer_values(finalizer: FinalizerSetting) -> Iterator[tuple[str, Any]]:
    """What its kind can say; a list that is empty can not be written."""
    for name, field in FinalizerFields.model_fields.items():
        kind, value = kind_of(field), getattr(finalizer, name)
        if finalizer.kind not in BELONGS.get(name, FinalizerKind) or value == ():
            continue
        if isinstance(value, Path):
            yield name, str(value)
        elif kind is None:
            yield name, list(value)
        elif value is not None or kind.takes(None):
            yield name, None if value is None else kind.show(value)


def _budget(budget: Budget) -> Iterator[tuple[str, Any]]:
    for name, value in written(budget).items():
        kind = kind_of(BudgetFields.model_fields[name])
        yield name, kind.show(value) if kind else value


def _prices(prices: Prices) -> Iterator[tuple[str, Any]]:
    yield "models", {name: written_price(price) for name, price in prices.models}
    yield "unknown", None if prices.unknown is None else written_price(prices.unknown)


def _home(home: HomeSetting) -> dict[str, Any]:
    return dict(_values(HomeFields, home)) | {"path": str(home.path)}


def _rule(settings: Settings, rule: ResetRule) -> dict[str, Any]:
    matches = {"sources": rule.sources, "chat_types": rule.chat_types, "keys": rule.keys}
    inherited = dict(_values(PolicyFields, settings.rulebook.reset))
    own = {
        name: value
        for name, value in _values(PolicyFields, rule.policy)
        if value != inherited[name]
    }
    return {name: list(names) for name, names in matches.items() if names} | own


def _item(values: dict[str, Any]) -> Iterator[str]:
    for place, (name, value) in enumerate(values.items()):
        yield f"  {' ' if place else '-'} {name}: {_flow(value)}"


def _noted(settings: Settings, section: str, name: str, value: Any) -> str:
    place = one_line(settings.places.get(f"{section}.{name}", DEFAULT))
    return f"  {name}: {_flow(value)}{_FROM}{place}"


def _flow(value: Any) -> str:
    """A value on one line, quoted where it needs to be."""
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_key(name)}: {_flow(each)}' for name, each in value.items())}}}"
    taken_for_else = isinstance(value, str) and (plain(value) != value or not value.isprintable())
    text = yaml.safe_dump(
        [value],
        default_style='"' if taken_for_else else None,
        default_flow_style=True,
        allow_unicode=True,
        width=2**31,
    )
    return str(text).strip()[1:-1]


def _key(name: str) -> str:
    """YAML takes a key of more than 1024 characters only behind a question mark."""
    text = _flow(name)
    return f"? {text} " if len(text) > 1000 else text
