"""Which variables does a home's `.env` set, and which of them change its resets?

Read as python-dotenv reads it for Hermes. Its values are secrets: they are looked at, never shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

MOST_DIGITS = 20
OVERRIDES = {"SESSION_IDLE_MINUTES": "idle_minutes", "SESSION_RESET_HOUR": "at_hour"}
"""The variables that win over what a home's files say of its general policy."""
_LINES = re.compile(r"\r\n|\n|\r")
_REMARK = re.compile(r"\s+#.*")


class Variable(NamedTuple):
    """A variable of `.env` and the line it is set on."""

    value: str
    line: int


def variables(text: str) -> dict[str, Variable]:
    """The variables of a `.env` text; of two settings the later one holds."""
    found: dict[str, Variable] = {}
    for place, line in enumerate(_LINES.split(text.removeprefix("\ufeff")), 1):
        name, is_set, value = line.strip().removeprefix("export ").partition("=")
        name = name.strip().strip("'")
        if is_set and name and not name.startswith("#"):
            found[name] = Variable(_unquoted(value.strip()), place)
    return found


def overridden(dotenv: Mapping[str, Variable], config: Mapping[Any, Any]) -> dict[str, int]:
    """The numbers by which Hermes replaces those of its general policy.

    A plain value at the root of config.yaml is one of the environment where `.env` is silent; what
    is empty or no whole number is passed over.
    """
    numbers = {name: whole(said(variable, dotenv, config)) for variable, name in OVERRIDES.items()}
    return {name: number for name, number in numbers.items() if number is not None}


def said(variable: str, dotenv: Mapping[str, Variable], config: Mapping[Any, Any]) -> str:
    """What a variable says to Hermes; nothing where it is in neither file."""
    if variable in dotenv:
        return dotenv[variable].value
    value = config.get(variable)
    return str(value) if isinstance(value, str | int | float) else ""


def whole(text: str) -> int | None:
    """The whole number that Python takes a text for."""
    try:
        return int(text) if len(text) <= MOST_DIGITS else None
    except ValueError:
        return None


def _unquoted(value: str) -> str:
    if value[:1] in ("'", '"'):
        return value[1:].partition(value[0])[0]
    return _REMARK.sub("", value).strip()
