"""What are the effective settings, as a file that says the same?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from sexton.model.message import one_line
from sexton.policies.liveness import LivenessPolicy
from sexton.policies.rulebook import ResetRule
from sexton.settings.document import plain
from sexton.settings.kinds import Kind
from sexton.settings.schema import HomeFields, LivenessFields, PolicyFields, kind_of
from sexton.settings.values import HomeSetting, Settings
from sexton.settings.vocabulary import DURATION


def show(settings: Settings) -> str:
    """Every setting with its value and, behind it, where that comes from.

    Loading the text gives the same settings again. Of a rule, only what differs is shown.
    """
    return "".join(f"{line}\n" for line in _lines(settings))


def _lines(settings: Settings) -> Iterator[str]:
    rules = settings.rulebook
    yield "homes:" if settings.homes else "homes: []"
    for home in settings.homes:
        yield from _item(_home(home))
    yield "reset:"
    for name, value in _policy_values(rules.reset):
        yield _noted(settings, "reset", name, value)
    yield "  rules:" if rules.reset_rules else "  rules: []"
    for rule in rules.reset_rules:
        yield from (f"  {line}" for line in _item(_rule(settings, rule)))
    yield "liveness:"
    for name, value in _liveness_values(rules.liveness):
        yield _noted(settings, "liveness", name, value)
    yield "keeper:"
    yield _noted(settings, "keeper", "sweep_every", DURATION.show(settings.keeper.sweep_every))


def _policy_values(policy: object) -> Iterator[tuple[str, Any]]:
    for name, field in PolicyFields.model_fields.items():
        kind = kind_of(field)
        assert isinstance(kind, Kind)
        yield name, kind.show(getattr(policy, name))


def _liveness_values(policy: LivenessPolicy) -> Iterator[tuple[str, Any]]:
    bounds = {source: DURATION.show(span) for source, span in policy.inactivity_bound}
    for name, field in LivenessFields.model_fields.items():
        kind, value = kind_of(field), getattr(policy, name)
        if name == "inactivity_bound":
            yield name, bounds
        else:
            yield name, kind.show(value) if kind else list(value)


def _home(home: HomeSetting) -> dict[str, Any]:
    return {name: getattr(home, name) for name in HomeFields.model_fields} | {
        "path": str(home.path)
    }


def _rule(settings: Settings, rule: ResetRule) -> dict[str, Any]:
    matches = {"sources": rule.sources, "chat_types": rule.chat_types, "keys": rule.keys}
    inherited = dict(_policy_values(settings.rulebook.reset))
    own = {name: value for name, value in _policy_values(rule.policy) if value != inherited[name]}
    return {name: list(names) for name, names in matches.items() if names} | own


def _item(values: dict[str, Any]) -> Iterator[str]:
    for place, (name, value) in enumerate(values.items()):
        yield f"  {' ' if place else '-'} {name}: {_flow(value)}"


def _noted(settings: Settings, section: str, name: str, value: Any) -> str:
    place = one_line(settings.places.get(f"{section}.{name}", "default"))
    return f"{f'  {name}: {_flow(value)}':<40}  # {place}"


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
