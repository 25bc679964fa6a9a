"""What are the settings? Read from a file and the environment, or refused with every problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sexton.core.record import replace
from sexton.errors import SettingsInvalid, SettingsNotFound
from sexton.settings import document
from sexton.settings.building import settings_from
from sexton.settings.document import Document
from sexton.settings.environment import overrides
from sexton.settings.home_settings import repeated_homes
from sexton.settings.settings_problems import ENVIRONMENT, Complaint, Problem, Spot, dotted
from sexton.settings.settings_problems import Path as SettingPath
from sexton.settings.settings_values import Settings, has_overrides
from sexton.settings.validation import contradictions, read

__all__ = ["Problem", "has_overrides", "load", "problems"]


def load(path: Path | None, environ: Mapping[str, str]) -> Settings:
    """The settings of a file, of the environment and the defaults, the first two winning."""
    found = _gather(path, environ)
    if found.problems:
        raise SettingsInvalid("\n".join(str(problem) for problem in found.problems))
    written, _ = read(found.values)
    return replace(
        settings_from(written, _directory(path), environ),
        source=None if path is None else str(path),
        places=found.places,
    )


def problems(path: Path | None, environ: Mapping[str, str]) -> list[Problem]:
    """Everything that is wrong with the settings, in the order of the file."""
    return _gather(path, environ).problems


@dataclass(slots=True)
class _Found:
    """What the file and the environment say together, where, and what is wrong with it."""

    values: dict[str, Any] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    spots: Mapping[SettingPath, Spot] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def _gather(path: Path | None, environ: Mapping[str, str]) -> _Found:
    found = _Found() if path is None else _from_file(path, environ)
    used, values, wrong = overrides(environ)
    found.problems += wrong
    if wrong or not isinstance(found.values, dict) or (found.problems and not found.spots):
        return found  # what does not say everything contradicts nothing
    for section, settings in values.items():
        written = found.values.get(section) or {}
        if isinstance(written, dict):
            found.values[section] = {**written, **settings}
    found.places |= {dotted(where): f"{ENVIRONMENT}: {name}" for name, where in used.items()}
    variables = {where: name for name, where in used.items()}
    found.problems += [
        _contradiction(path, found, variables, each) for each in contradictions(found.values)
    ]
    found.problems.sort(key=_place)
    return found


def _place(problem: Problem) -> tuple[bool, int, int]:
    """In the order of the file, and what is in none last."""
    return problem.line is None, problem.line or 0, problem.column or 0


def _contradiction(
    path: Path | None, found: _Found, variables: Mapping[SettingPath, str], complaint: Complaint
) -> Problem:
    """What only shows when the file and the environment are read together."""
    where, name = complaint.path, variables.get(complaint.path)
    if name is not None or path is None:
        return Problem(
            file=ENVIRONMENT,
            line=None,
            column=None,
            where=name or dotted(where),
            message=complaint.message,
        )
    return _problem(path, found.spots[where], dotted(where), complaint.message)


def _from_file(path: Path, environ: Mapping[str, str]) -> _Found:
    try:
        text = document.read(document.decode(_content(path)))
    except document.Unreadable as error:
        return _Found(problems=[_problem(path, error.spot, "", str(error))])
    _, wrong_values = read(text.values)
    wrong = [
        *text.complaints,
        *wrong_values,
        *repeated_homes(text.values, _directory(path), environ),
    ]
    located = sorted((_locate(path, text, complaint) for complaint in wrong), key=_place)
    places = {
        dotted(where): f"{path}:{spot.line}:{spot.column}"
        for where, spot in text.spots.items()
        if where
    }
    return _Found(values=text.values or {}, places=places, spots=text.spots, problems=located)


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(document.MAX_BYTES + 1)
    except FileNotFoundError:
        raise SettingsNotFound(f"there is no settings file at {path}") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise document.Unreadable(f"the file can not be read: {why}", Spot(1, 1)) from None


def _locate(path: Path, text: Document, complaint: Complaint) -> Problem:
    where = complaint.path
    spot = complaint.spot or (text.keys if complaint.at_key else text.spots).get(where)
    while spot is None:
        # a setting that is missing has no place of its own: show where it belongs
        where = where[:-1]
        spot = text.spots.get(where) or (Spot(1, 1) if not where else None)
    return _problem(path, spot, dotted(complaint.path), complaint.message)


def _problem(path: Path, spot: Spot, where: str, message: str) -> Problem:
    return Problem(file=str(path), line=spot.line, column=spot.column, where=where, message=message)


def _directory(path: Path | None) -> Path:
    return Path.cwd() if path is None else path.absolute().parent
