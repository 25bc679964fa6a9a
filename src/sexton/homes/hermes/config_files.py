"""What do the configuration files of a Hermes home say, and on which line?

Read as Hermes reads them, but nothing in them can break us. Values of `.env` are secrets: they are
looked at and never shown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sexton.core.record import made, record
from sexton.homes.hermes import yaml_document
from sexton.homes.hermes.dotenv import MOST_DIGITS, Variable, said, variables
from sexton.homes.hermes.inherited import LARGEST

CONFIG, GATEWAY, ENVIRONMENT = "config.yaml", "gateway.json", ".env"


class Trouble(NamedTuple):
    """Why a file can not be used, and on which line that shows."""

    words: str
    line: int | None = None


@record
class ConfigFile:
    """A file of settings; without `values` and with `trouble` if it can not be used."""

    path: Path
    values: Mapping[Any, Any] = made(dict)
    lines: Mapping[yaml_document.Path, int] = made(dict)
    twice: tuple[yaml_document.Path, ...] = ()
    trouble: Trouble | None = None

    def at(self, *path: str | int) -> str:
        """Where a setting stands, for a person."""
        line = self.lines.get(path)
        return str(self.path) if line is None else f"{self.path}:{line}"


@record
class Configuration:
    """All that configures a home."""

    config: ConfigFile
    gateway: ConfigFile
    dotenv: Path
    variables: Mapping[str, Variable] = made(dict)

    def variable(self, name: str) -> str:
        """A variable as Hermes would see it: from `.env`, or a plain value at the root."""
        return said(name, self.variables, self.config.values)

    def place(self, name: str) -> str:
        """Where a variable stands, for a person."""
        if name in self.variables:
            return f"{self.dotenv}:{self.variables[name].line}"
        return self.config.at(name)


def read_configuration(home: Path) -> Configuration:
    """Read everything that configures a home; a file that is not there says nothing."""
    dotenv = home / ENVIRONMENT
    content = _content(dotenv)
    text = "" if isinstance(content, Trouble) else content or ""
    return Configuration(
        config=_config(home / CONFIG),
        gateway=_gateway(home / GATEWAY),
        dotenv=dotenv,
        variables=variables(text),
    )


def mapping(value: Any) -> Mapping[Any, Any]:
    """A mapping as it is, nothing for anything else."""
    return value if isinstance(value, dict) else {}


def plain(value: Any) -> str:
    """The text of a scalar; of anything else only its kind.

    Aliases make a short file a value whose text would never end.
    """
    return type(value).__name__ if isinstance(value, list | dict) else str(value)


def counted(text: str) -> int | None:
    """The number that a text of plain digits says; None for any other, and one without end."""
    is_number = text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS
    return int(text) if is_number else None


def _config(path: Path) -> ConfigFile:
    content = _content(path)
    if not isinstance(content, str):
        return ConfigFile(path=path, trouble=content)
    try:
        found = yaml_document.located(content)
    except yaml_document.Unusable as problem:
        return ConfigFile(path=path, trouble=Trouble(str(problem), problem.line))
    if not isinstance(found.values, dict):
        trouble = None if found.values is None else Trouble("not a mapping", 1)
        return ConfigFile(path=path, trouble=trouble)
    return ConfigFile(path=path, values=found.values, lines=found.lines, twice=found.twice)


def _gateway(path: Path) -> ConfigFile:
    content = _content(path)
    if not isinstance(content, str):
        return ConfigFile(path=path, trouble=content)
    try:
        values = json.loads(content)
    except (ValueError, RecursionError) as problem:
        line = getattr(problem, "lineno", None)
        return ConfigFile(path=path, trouble=Trouble("not valid JSON", line))
    if not isinstance(values, dict):
        return ConfigFile(path=path, trouble=Trouble("not a mapping", 1))
    return ConfigFile(path=path, values=values)


def _content(path: Path) -> str | Trouble | None:
    try:
        if not path.is_file():
            return None
        with path.open("rb") as stream:
            content = stream.read(LARGEST + 1)
    except OSError as problem:
        return Trouble(problem.strerror or "can not be read")
    if len(content) > LARGEST:
        return Trouble(f"longer than {LARGEST} bytes")
    return content.decode("utf-8", "replace")
