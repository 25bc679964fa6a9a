"""What is wrong with settings, and where."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, TypeAlias

from sexton.core.message import one_line
from sexton.core.record import made, record

Path: TypeAlias = tuple[str | int, ...]
"""The names and places in lists that lead to a setting."""

ENVIRONMENT = "environment"


@record(kw_only=False)
class Spot:
    """A line and a column of the settings file, both counted from 1."""

    line: int
    column: int


@record
class Problem:
    """One thing to mend; `file` is 'environment' for a variable, which has no line."""

    file: str
    line: int | None
    column: int | None
    where: str
    message: str

    def __str__(self) -> str:
        if self.line is None:
            return f"{self.file}: {self.where}: {self.message}"
        place = f"{self.file}:{self.line}:{self.column}"
        return (
            f"{place}: {self.where}: {self.message}" if self.where else f"{place}: {self.message}"
        )


@record(kw_only=False)
class Complaint:
    """Something wrong with the setting at a path; `at_key` if it is the name that is wrong.

    `spot` is set where the path alone does not say which line is meant.
    """

    path: Path
    message: str
    at_key: bool = False
    spot: Spot | None = None


@record(kw_only=False)
class Found:
    """What is wrong in settings that are being read.

    `elsewhere` has the place of every setting by its name, for what stands in the wrong section.
    """

    elsewhere: Mapping[str, str]
    complaints: list[Complaint] = made(list)

    def add(self, path: Path, message: str, *, at_key: bool = False) -> None:
        """One thing to mend."""
        self.complaints.append(Complaint(path, message, at_key=at_key))


def entries(values: Any, *names: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The mappings in the list below some names with their places; what is none is left out."""
    for name in names:
        values = values.get(name) if isinstance(values, dict) else None
    for place, entry in enumerate(values if isinstance(values, list) else ()):
        if isinstance(entry, dict):
            yield place, entry


def dotted(path: Path) -> str:
    """A path as people write it: `reset.rules[0].mode`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{_clip(part)}"
    return text.removeprefix(".")


def did_you_mean(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known word that is most like the given one, if any is."""
    close = get_close_matches(word[:64], list(known), n=1, cutoff=cutoff)
    return close[0] if close else None


def _clip(part: str) -> str:
    line = one_line(part[:256]) or "''"
    return line if len(line) <= 64 else line[:63] + "…"
