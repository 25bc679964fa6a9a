"""Reads the settings from a file or a mapping, and from the environment, or finds every problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from pathlib import Path, PurePath
from typing import Any

from sexton.core.record import replace
from sexton.errors import SettingsInvalid, SettingsNotFound
from sexton.settings import document
from sexton.settings.building import settings_from
from sexton.settings.environment import overrides
from sexton.settings.home_settings import repeated_homes
from sexton.settings.quantities import show_duration
from sexton.settings.settings_problems import ENVIRONMENT, Complaint, Problem, Spot, dotted
from sexton.settings.settings_problems import Path as SettingPath
from sexton.settings.settings_values import Settings, has_overrides
from sexton.settings.validation import contradictions, read

__all__ = ["Problem", "has_overrides", "load", "load_mapping", "problems"]

CODE = "settings"
"""The place of settings that a program gives as a mapping."""


def load(path: Path | None, environ: Mapping[str, str]) -> Settings:
    """The settings of a file, of the environment and the defaults; the environment wins."""
    settings = _checked(_of_file(path, environ), environ)
    return replace(settings, source=None if path is None else str(path))


def load_mapping(
    values: Mapping[str, Any], environ: Mapping[str, str], beside: Path | None = None
) -> Settings:
    """The same for settings that a program gives as a mapping, laid out like the file.

    A duration may be a `timedelta`, a path a `Path`. Relative paths are beside a directory, by
    default the current one.
    """
    return _checked(_of_mapping(_plain(values), environ, beside or Path.cwd()), environ)


def problems(path: Path | None, environ: Mapping[str, str]) -> list[Problem]:
    """Everything that is wrong with the settings, in the order of the file."""
    return _with_environment(_of_file(path, environ), environ).problems


@dataclass(slots=True)
class _Source:
    """What a file or a mapping says, where, and what is wrong with it.

    `at` makes a problem of a complaint; what is not readable says nothing at all.
    """

    values: Any
    beside: Path
    at: Callable[[Complaint], Problem]
    places: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    is_readable: bool = True


def _checked(source: _Source, environ: Mapping[str, str]) -> Settings:
    found = _with_environment(source, environ)
    if found.problems:
        raise SettingsInvalid("\n".join(map(str, found.problems)))
    written, _ = read(found.values)
    return replace(settings_from(written, found.beside, environ), places=found.places)


def _with_environment(source: _Source, environ: Mapping[str, str]) -> _Source:
    """The same with what variables override, and what contradicts each other then."""
    used, values, wrong = overrides(environ)
    source.problems += wrong
    if wrong or not isinstance(source.values, dict) or not source.is_readable:
        return source  # what does not say everything contradicts nothing
    for section, settings in values.items():
        written = source.values.get(section) or {}
        if isinstance(written, dict):
            source.values[section] = {**written, **settings}
    source.places |= {dotted(where): f"{ENVIRONMENT}: {name}" for name, where in used.items()}
    variables = {where: name for name, where in used.items()}
    for complaint in contradictions(source.values):
        variable = variables.get(complaint.path)
        at_variable = _nowhere(ENVIRONMENT, variable or "", complaint.message)
        source.problems.append(at_variable if variable else source.at(complaint))
    source.problems.sort(key=_place)
    return source


def _of_file(path: Path | None, environ: Mapping[str, str]) -> _Source:
    if path is None:
        return _of_mapping({}, environ, Path.cwd())
    beside = path.absolute().parent
    try:
        text = document.read(document.decode(_content(path)))
    except document.Unreadable as error:
        unreadable = _problem(path, error.spot, "", str(error))
        return _Source(None, beside, lambda _: unreadable, problems=[unreadable], is_readable=False)

    def at(complaint: Complaint) -> Problem:
        return _located(path, text, complaint)

    wrong = (*text.complaints, *_complaints(text.values, beside, environ))
    places = {
        dotted(where): f"{path}:{spot.line}:{spot.column}"
        for where, spot in text.spots.items()
        if where
    }
    found = sorted(map(at, wrong), key=_place)
    return _Source(text.values or {}, beside, at, places, found)


def _of_mapping(values: Any, environ: Mapping[str, str], beside: Path) -> _Source:
    def at(complaint: Complaint) -> Problem:
        return _nowhere(CODE, dotted(complaint.path), complaint.message)

    places = {dotted(where): CODE for where in _paths(values, ())}
    found = list(map(at, _complaints(values, beside, environ)))
    return _Source(values, beside, at, places, found)


def _complaints(values: Any, beside: Path, environ: Mapping[str, str]) -> Iterator[Complaint]:
    _, wrong = read(values)
    yield from wrong
    yield from repeated_homes(values, beside, environ)


def _place(problem: Problem) -> tuple[bool, int, int]:
    """In the order of the file, and what is in none last."""
    return problem.line is None, problem.line or 0, problem.column or 0


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(document.MAX_BYTES + 1)
    except FileNotFoundError:
        raise SettingsNotFound(f"there is no settings file at {path}") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise document.Unreadable(f"the file can not be read: {why}", Spot(1, 1)) from None


def _located(path: Path, text: document.Document, complaint: Complaint) -> Problem:
    where = complaint.path
    spot = complaint.spot or (text.keys if complaint.at_key else text.spots).get(where)
    while spot is None:
        # a setting that is missing has no place of its own: show where it belongs
        where = where[:-1]
        spot = text.spots.get(where) or (Spot(1, 1) if not where else None)
    return _problem(path, spot, dotted(complaint.path), complaint.message)


def _problem(path: Path, spot: Spot, where: str, message: str) -> Problem:
    return Problem(file=str(path), line=spot.line, column=spot.column, where=where, message=message)


def _nowhere(source: str, where: str, message: str) -> Problem:
    return Problem(file=source, line=None, column=None, where=where, message=message)


def _plain(value: Any) -> Any:
    """A value as it is written in a file."""
    match value:
        case Mapping():
            return {str(name): _plain(inner) for name, inner in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case timedelta() if value == timedelta(seconds=int(value.total_seconds())):
            return show_duration(value)
        case StrEnum() | PurePath():
            return str(value)
        case _:
            return value


def _paths(value: Any, path: SettingPath) -> Iterator[SettingPath]:
    """The path of every value in a mapping."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else ()
    for name, below in enumerate(value) if isinstance(value, list) else inner:
        yield from _paths(below, (*path, name))
