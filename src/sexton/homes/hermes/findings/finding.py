"""What is a finding? Something to mend: how much of it, what it costs, and what mends it."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable
from enum import StrEnum
from pathlib import Path

from sexton.core.record import record
from sexton.rules.rulebook import Rulebook


class Level(StrEnum):
    """How much a finding matters: it breaks something, it costs something, it may be a slip."""

    GRAVE = "grave"
    COSTLY = "costly"
    HINT = "hint"


@record
class Finding:
    """One thing that is wrong.

    `words` say what was found and `cost` what comes of it, both for a person; `repair` is a command
    to be typed as it is, or what to do by hand where there is none; `bytes` is what it gives back;
    `where` is a file, with its line if known.
    """

    code: str
    level: Level
    words: str
    cost: str
    repair: str
    count: int = 1
    bytes: int = 0
    where: str | None = None
    details: tuple[str, ...] = ()


ORDER = tuple(Level)


def ranked(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """The gravest first, and of equals what gives back most."""
    return tuple(sorted(found, key=lambda each: (ORDER.index(each.level), -each.bytes)))


@record
class Names:
    """How commands name a home: for Sexton, and for Hermes itself."""

    home: str
    path: Path
    usual: bool = False

    def sexton(self, command: str) -> str:
        """A command of ours on this home."""
        return f"sexton {command} --home {shlex.quote(self.home)}"

    def hermes(self, *words: str) -> str:
        """A command of Hermes on this home, which is said only if it is not where Hermes looks."""
        command = f"hermes {' '.join(shlex.quote(word) for word in words)}"
        return command if self.usual else f"HERMES_HOME={shlex.quote(str(self.path))} {command}"


@record
class Rules:
    """Under which rules a home is: its own resets, and our rules for what is removed.

    Files of what was brought `back` lately are not. Of the models that are `unpriced` no budget of
    money bounds what they cost.
    """

    own: Rulebook
    ours: Rulebook
    back: Collection[str] = ()
    unpriced: Collection[str] = ()


def share(part: int, whole: int) -> str:
    """A part of a whole in per cent."""
    return f"{100 * part / whole:.1f} %" if whole else "0 %"


def number(count: int) -> str:
    """A count with its thousands apart."""
    return f"{count:,}".replace(",", " ")


def many(count: int, singular: str, plural: str | None = None) -> str:
    """A count and what is counted."""
    return f"{number(count)} {singular if count == 1 else plural or singular + 's'}"


def size(count: int) -> str:
    """A number of bytes with three digits at most."""
    amount, units = float(count), ("B", "KB", "MB", "GB", "TB")
    for unit in units:
        if amount < 1000 or unit == units[-1]:
            break
        amount /= 1000
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 10 else f"{amount:.1f} {unit}"
