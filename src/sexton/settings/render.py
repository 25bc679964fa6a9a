"""Shows the settings in effect as a file that says the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import yaml

from sexton.core.message import one_line
from sexton.retention.policy import RetentionClass
from sexton.rules.rulebook import ResetRule
from sexton.settings.budget_entries import as_entry
from sexton.settings.document import plain
from sexton.settings.sections import FILE, LISTS, MAPPINGS, SECTIONS
from sexton.settings.settings_values import FinalizerKind, FinalizerSetting, Settings
from sexton.spending.model import Budget

DEFAULT = "default"
"""The place of a value that nobody has set."""
_RULES = ("reset", "rules")


class Line(NamedTuple):
    """A line of settings; `place` says where its value comes from, None where that is not shown."""

    text: str
    place: str | None = None


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
    written = _written(settings)
    for name in FILE.fields:
        if name not in MAPPINGS:
            yield from _listed(name, written[name])
            continue
        yield Line(f"{name}:")
        for setting in MAPPINGS[name].fields:
            value = written[name][setting]
            if (name, setting) in LISTS:
                yield from _listed(setting, value, "  ")
            else:
                place = one_line(settings.places.get(f"{name}.{setting}", DEFAULT))
                yield Line(f"  {setting}: {_flow(value)}", place)


def _listed(name: str, entries: Sequence[dict[str, Any]], indent: str = "") -> Iterator[Line]:
    yield Line(f"{indent}{name}:" if entries else f"{indent}{name}: []")
    for entry in entries:
        for place, (setting, value) in enumerate(entry.items()):
            yield Line(f"{indent}  {' ' if place else '-'} {setting}: {_flow(value)}")


def _written(settings: Settings) -> dict[str, Any]:
    """The settings as a file would say them, section by section."""
    rules, spend = settings.rulebook, settings.rulebook.spend
    reset = _shown(("reset",), rules.reset)
    retention = _shown(("retention",), rules.retention.general)
    retention |= _shown(("retention",), rules.retention)
    policies = {
        "liveness": rules.liveness,
        "processes": rules.processes,
        "prices": spend.prices,
        "breaker": spend.breaker,
        "runaway": spend.runaway,
    }
    return {
        "homes": [_shown(("homes",), home) for home in settings.homes],
        "reset": reset | {"rules": [_rule(rule, reset) for rule in rules.reset_rules]},
        "finalizers": [_finalizer(finalizer) for finalizer in settings.finalizers],
        "budgets": [_budget(budget) for budget in spend.budgets],
        "retention": retention
        | {"classes": [_class(policy, retention) for policy in rules.retention.classes]},
        **{
            name: section.show(policies.get(name) or getattr(settings, name))
            for name, section in MAPPINGS.items()
            if name not in ("reset", "retention")
        },
    }


def _shown(path: tuple[str, ...], value: object) -> dict[str, Any]:
    """What a record says of the settings of a section, as it is written."""
    return {
        name: field.shape.show(getattr(value, field.attribute))
        for name, field in SECTIONS[path].fields.items()
        if hasattr(value, field.attribute) and (*path, name) not in LISTS
    }


def _rule(rule: ResetRule, inherited: Mapping[str, Any]) -> dict[str, Any]:
    matches = {name: value for name, value in _shown(_RULES, rule).items() if value}
    policy = _shown(_RULES, rule.policy)
    return matches | {name: value for name, value in policy.items() if value != inherited[name]}


def _class(policy: RetentionClass, inherited: Mapping[str, Any]) -> dict[str, Any]:
    own = _shown(("retention", "classes"), policy)
    return {name: value for name, value in own.items() if value != inherited.get(name, "keep")}


def _finalizer(finalizer: FinalizerSetting) -> dict[str, Any]:
    """What its kind can say; a list that is empty can not be written."""
    return {
        name: None if value is None else field.shape.show(value)
        for name, field in SECTIONS[("finalizers",)].fields.items()
        if finalizer.kind in (field.declared.belongs or FinalizerKind)
        if (value := getattr(finalizer, field.attribute)) != ()
        if value is not None or field.declared.null is not None
    }


def _budget(budget: Budget) -> dict[str, Any]:
    fields = SECTIONS[("budgets",)].fields
    return {name: fields[name].shape.show(value) for name, value in as_entry(budget).items()}


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
