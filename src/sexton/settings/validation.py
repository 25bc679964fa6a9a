"""Is what a document says a valid set of settings? Every complaint at once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from sexton.settings.finalizer_settings import wrong_finalizers
from sexton.settings.kinds import SHOWN, shown
from sexton.settings.quantities import show_duration
from sexton.settings.retention import wrong_retention
from sexton.settings.settings_problems import Complaint, Path, did_you_mean
from sexton.settings.settings_schema import SECTIONS, SettingsFile, names_below
from sexton.settings.spending import wrong_budgets

_WORDS = re.compile(r"[A-Za-z0-9_., -]+")
_MATCHES = ("sources", "chat_types", "keys")
_SWAPPED = ("beat_every", "ttl")

LEAST_BEATS = 2
"""A process asks before it writes once half the TTL has passed without a beat."""


def complaints(values: Any) -> Iterator[Complaint]:
    """What is wrong with the values of a settings file or of an override."""
    try:
        SettingsFile.model_validate({} if values is None else values)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            yield _complaint(detail)
    yield from _unlimited_rules(values)
    yield from wrong_finalizers(values)
    yield from wrong_budgets(values)


def contradictions(values: Mapping[str, Any]) -> Iterator[Complaint]:
    """What is wrong with settings that are sound one by one; told of one that was written down.

    Sections with a mistake of their own are passed over.
    """
    sound = {name: each for name, each in values.items() if not any(complaints({name: each}))}
    said = SettingsFile.model_validate(sound)
    fields = said.liveness
    if fields.ttl < LEAST_BEATS * fields.beat_every:
        name, other = ("ttl", "beat_every") if "ttl" in fields.model_fields_set else _SWAPPED
        yield Complaint(
            ("liveness", name),
            f"the ttl must be at least {LEAST_BEATS} beats, or every late one looks like a death: "
            f"{name} is {show_duration(getattr(fields, name))}, "
            f"{other} is {show_duration(getattr(fields, other))}",
        )
    if "liveness" in sound or "liveness" not in values:
        yield from wrong_retention(said.retention, fields.dies_with_owner)


def _complaint(detail: ErrorDetails) -> Complaint:
    path, wrong = detail["loc"], detail["type"]
    if path and path[-1] == "[key]":  # how pydantic says that it is the name that is wrong
        return Complaint(path[:-1], _message(detail), at_key=True)
    return Complaint(path, _message(detail), at_key=wrong == "extra_forbidden")


def _message(detail: ErrorDetails) -> str:
    value = detail["input"]
    match detail["type"]:
        case "extra_forbidden":
            return unknown(detail["loc"])
        case "missing":
            return "is required"
        case "model_type" | "dict_type" as kind:
            of_models = detail["loc"][:2] == ("prices", "models")
            pairs = "models to prices" if of_models else "sources to durations"
            what = "settings" if kind == "model_type" else pairs
            return f"expected a mapping of {what}, not {shown(value)}"
        case "list_type":
            return f"expected a list, not {shown(value)}{_as_list(value)}"
        case "too_short":
            return "the list is empty; leave it out to match any"
        case _:
            return detail["msg"]


def _as_list(value: object) -> str:
    if not isinstance(value, str) or len(value) > SHOWN:
        return ""
    return f"; write [{value if _WORDS.fullmatch(value) else shown(value)}]"


def unknown(path: Path) -> str:
    """What to say about a setting that does not exist: the one probably meant, if any."""
    name = str(path[-1])
    if name == "<<":
        return "YAML merge keys are not supported; a rule inherits from reset by itself"
    near = did_you_mean(name, names_below(path[:-1]))
    if near is None:
        elsewhere = (where for where, model in SECTIONS.items() if name in model.model_fields)
        near = next((".".join((*map(str, where), name)) for where in elsewhere), None)
    return f"unknown setting; did you mean '{near}'?" if near else "unknown setting"


def _unlimited_rules(values: Any) -> Iterator[Complaint]:
    """Rules that match every session: they would take the place of the default unseen."""
    reset = values.get("reset") if isinstance(values, dict) else None
    rules = reset.get("rules") if isinstance(reset, dict) else None
    for place, rule in enumerate(rules if isinstance(rules, list) else ()):
        if isinstance(rule, dict) and not any(match in rule for match in _MATCHES):
            yield Complaint(
                ("reset", "rules", place),
                "the rule matches every session; add sources, chat_types or keys, "
                "or set this in reset itself",
            )
