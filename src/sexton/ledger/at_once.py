"""How does one statement do the work of many?

A connection gives the interpreter away with each step of each statement, and has to win it back
from whoever else wants it. So many writers are served by few statements. These are made from the
text of the one that serves a single writer: its conditions are theirs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from operator import itemgetter
from typing import Any, TypeVar

T = TypeVar("T")

MOST = 32

_PARAMETER = re.compile(r":([a-z_]+)")
_VALUES = re.compile(r"VALUES \([^()]*\)")


@cache
def at_once(text: str, count: int) -> tuple[str, Callable[[Mapping[str, Any]], Sequence[Any]]]:
    """An INSERT or UPDATE of one row as one of so many, and what picks its values from a row's."""
    names = tuple(dict.fromkeys(_PARAMETER.findall(text)))
    if count == 1:
        return text, itemgetter(*names)
    rows = ", ".join(["(" + ", ".join("?" * len(names)) + ")"] * count)
    if text.startswith("INSERT"):
        return _VALUES.sub(f"VALUES {rows}", text), itemgetter(*names)
    given = ", ".join(f"given_{name}" for name in names)
    update = _PARAMETER.sub(r"given_\1", text).replace("\nWHERE", "\nFROM given\nWHERE", 1)
    return f"WITH given ({given}) AS (VALUES {rows})\n{update}", itemgetter(*names)


def portions(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    """The rows in powers of two: so few different sizes that their statements stay prepared."""
    end = 0
    while end < len(rows):
        start = end
        end += min(MOST, 1 << (len(rows) - end).bit_length() - 1)
        yield rows[start:end]
