"""Reads the settings that the environment overrides, and finds misspelt variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sexton.settings import document
from sexton.settings.sections import FILE, MAPPINGS
from sexton.settings.settings_problems import ENVIRONMENT, Path, Problem, did_you_mean
from sexton.settings.settings_values import PREFIX, RESERVED
from sexton.settings.validation import read

VARIABLES: Mapping[str, tuple[str, str]] = {
    f"{PREFIX}{section}__{name}".upper(): (section, name)
    for section, settings in MAPPINGS.items()
    for name, field in settings.fields.items()
    if field.is_one_value
}
"""The settings that a variable can override, by the variable's name."""

_IN_FILE_ONLY = (
    *((name,) for name in FILE.fields if name not in MAPPINGS),
    *(
        (section, name)
        for section, settings in MAPPINGS.items()
        for name, field in settings.fields.items()
        if not field.is_one_value
    ),
)
_BEGINNINGS = tuple(f"{section}_" for section in FILE.fields)
_OF_A_SERVICE = ("service_", "port_")
"""With these Kubernetes tells every container of a service that is called like us."""


def overrides(environ: Mapping[str, str]) -> tuple[dict[str, Path], dict[str, Any], list[Problem]]:
    """The variables in use, their values as a file would say them, and what is wrong with them."""
    used: dict[str, Path] = {}
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for name in sorted(environ):
        if not name.startswith(PREFIX) or name in RESERVED:
            continue
        if name not in VARIABLES:
            problems += [_problem(name, message) for message in _unknown(name)]
            continue
        section, setting = VARIABLES[name]
        value, messages = _read(environ[name], VARIABLES[name])
        problems += [_problem(name, message) for message in messages]
        used[name] = VARIABLES[name]
        values.setdefault(section, {})[setting] = value
    return used, values, problems


def _read(text: str, path: tuple[str, str]) -> tuple[Any, list[str]]:
    section, setting = path
    if not text.strip():
        return None, ["is empty; unset it, or write null where a limit shall be lifted"]
    try:
        if len(text) > document.MAX_BYTES:
            return None, ["is too long"]
        found = document.read(text)
    except document.Unreadable as error:
        return None, [str(error)]
    _, complaints = read({section: {setting: found.values}})
    wrong = [*found.complaints, *complaints]
    return found.values, [complaint.message for complaint in wrong]


def _unknown(name: str) -> list[str]:
    """What to say about a variable of ours that is none; nothing if it may be somebody else's."""
    path = name.removeprefix(PREFIX).lower()
    if f"{path}_".startswith(_OF_A_SERVICE):
        return []
    for section in _IN_FILE_ONLY:
        if path == "__".join(section) or path.startswith("__".join((*section, ""))):
            return [f"{'.'.join(section)} can only be set in the settings file"]
    if path in MAPPINGS:
        example = next(known for known in VARIABLES if known.startswith(name + "__"))
        return [f"is a section; set one of its settings, like {example}"]
    known = {word.removeprefix(PREFIX): word for word in (*VARIABLES, *sorted(RESERVED))}
    whole = [variable for variable in VARIABLES if variable.endswith(f"__{path.upper()}")]
    if whole:
        return [f"unknown setting; did you mean '{whole[0]}'?"]
    ours = "__" in path or path.startswith(_BEGINNINGS)
    near = did_you_mean(path.upper(), known, cutoff=0.6 if ours else 0.8)
    if near:
        return [f"unknown setting; did you mean '{known[near]}'?"]
    return ["unknown setting"] if ours else []


def _problem(name: str, message: str) -> Problem:
    return Problem(file=ENVIRONMENT, line=None, column=None, where=name, message=message)
