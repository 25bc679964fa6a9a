"""The homes that the settings name: where they are, and what they are called."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sexton.core.session import NATIVE
from sexton.settings.settings_problems import Complaint, entries
from sexton.settings.settings_values import HomeSetting


def named_homes(written: Sequence[Mapping[str, Any]]) -> Iterator[HomeSetting]:
    """The homes, each with a name of its own."""
    taken = {NATIVE, *(home["name"] for home in written if "name" in home)}
    for home in written:
        name = home.get("name") or _free_name(home["path"], taken)
        taken.add(name)
        yield HomeSetting(**{**home, "name": name})


def repeated_homes(values: Any, beside: Path, environ: Mapping[str, str]) -> Iterator[Complaint]:
    """Homes that are listed twice, by path or by name."""
    seen: dict[tuple[str, object], int] = {}
    for place, home in entries(values, "homes"):
        for what in ("path", "name"):
            value = home.get(what)
            if not isinstance(value, str) or not value or not _storable(value):
                continue
            same = resolved(value, beside, environ) if what == "path" else value
            first = seen.setdefault((what, same), place)
            if first != place:
                message = f"homes[{first}] has the same {what}"
                yield Complaint(("homes", place, what), message)


def resolved(text: str, beside: Path, environ: Mapping[str, str]) -> Path:
    """The absolute path that is meant; `~` is the user's directory."""
    if text == "~" or text.startswith("~/"):
        text = environ.get("HOME", "~") + text[1:]
    return Path(os.path.normpath(beside / os.path.expanduser(text)))


def _free_name(path: Path, taken: set[str]) -> str:
    plain = "".join(c if c.isprintable() and c != " " else "-" for c in path.name.lstrip("."))
    stem = plain or "home"
    numbered = (f"{stem}-{number}" for number in range(2, len(taken) + 3))
    return next(name for name in (stem, *numbered) if name not in taken)


def _storable(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text)
