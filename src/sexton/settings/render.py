"""What are the effective settings, as a file that says the same?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import yaml

from sexton.core.message import one_line
from sexton.retention.policy import RetentionClass
from sexton.rules.rulebook import ResetRule
from sexton.settings.budget_entries import written
from sexton.settings.document import plain
from sexton.settings.sections import FILE, MAPPINGS, SECTIONS
from sexton.settings.settings_values import FinalizerKind, FinalizerSetting, Settings
from sexton.spending.model import Budget

_RULES = ("reset", "rules")
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
    said = _said(settings)
    for name in FILE.fields:
        if name in MAPPINGS:
            yield f"{name}:"
            for setting in MAPPINGS[name].fields:
                value = said[name][setting]
                if (name, setting) in SECTIONS and isinstance(value, list):
                    yield from (f"  {line}" for line in _listed(setting, value))
                else:
                    yield _noted(settings, name, setting, value)
        else:
            yield from _listed(name, said[name])


def _listed(name: str, entries: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield f"{name}:" if entries else f"{name}: []"
    for entry in entries:
        yield from _item(entry)


def _said(settings: Settings) -> dict[str, Any]:
    """The settings as they are written, section by section."""
    rules = settings.rulebook
    policies = {
        "liveness": rules.liveness,
        "processes": rules.processes,
        "prices": rules.spend.prices,
    }
    policies |= {"breaker": rules.spend.breaker, "runaway": rules.spend.runaway}
    said: dict[str, Any] = {
        name: section.show(policies.get(name) or getattr(settings, name))
        for name, section in MAPPINGS.items()
        if name not in ("reset", "retention")
    }
    said["homes"] = [_shown(("homes",), home) for home in settings.homes]
    said["finalizers"] = list(map(_finalizer, settings.finalizers))
    said["budgets"] = list(map(_budget, rules.spend.budgets))
    said["reset"] = _shown(("reset",), rules.reset)
    said["reset"]["rules"] = [_rule(rule, said["reset"]) for rule in rules.reset_rules]
    retention = rules.retention
    said["retention"] = _shown(("retention",), retention.general) | _shown(
        ("retention",), retention
    )
    said["retention"]["classes"] = [
        _class(policy, said["retention"]) for policy in retention.classes
    ]
    return said


def _shown(path: tuple[str, ...], value: object) -> dict[str, Any]:
    """What a record says of the settings of a section, as it is written."""
    return {
        name: field.shape.show(getattr(value, field.attribute))
        for name, field in SECTIONS[path].fields.items()
        if hasattr(value, field.attribute) and (*path, name) not in SECTIONS
    }


def _rule(rule: ResetRule, inherited: Mapping[str, Any]) -> dict[str, Any]:
    matches = {name: each for name, each in _shown(_RULES, rule).items() if each}
    policy = _shown(_RULES, rule.policy)
    return matches | {name: each for name, each in policy.items() if each != inherited[name]}


def _class(policy: RetentionClass, inherited: Mapping[str, Any]) -> dict[str, Any]:
    own = _shown(("retention", "classes"), policy)
    return {name: each for name, each in own.items() if each != inherited.get(name, "keep")}


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
    return {name: fields[name].shape.show(value) for name, value in written(budget).items()}


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
