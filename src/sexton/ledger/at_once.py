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

_COMMENT = r"(?m)^--.*\n"
_PARAMETER = r":([a-z_]+)"
_VALUES = r"VALUES (\([^()]*\))"


@cache
def at_once(text: str, count: int) -> tuple[str, Callable[[Mapping[str, Any]], Sequence[Any]]]:
    """An INSERT or UPDATE of one row as one of so many, and what picks its values from a row's."""
    text = re.sub(_COMMENT, "", text)
    names = tuple(dict.fromkeys(re.findall(_PARAMETER, text)))
    if count == 1:
        return text, itemgetter(*names)
    if text.startswith("INSERT"):
        row = re.sub(_PARAMETER, "?", re.findall(_VALUES, text)[0])
        return re.sub(_VALUES, f"VALUES {', '.join([row] * count)}", text), itemgetter(*names)
    rows = ", ".join(["(" + ", ".join("?" * len(names)) + ")"] * count)
    given = ", ".join(f"given_{name}" for name in names)
    update = re.sub(_PARAMETER, r"given_\1", text).replace("\nWHERE", "\nFROM given\nWHERE", 1)
    return f"WITH given ({given}) AS (VALUES {rows})\n{update}", itemgetter(*names)


@cache
def whole(guard: str, insert: str, count: int) -> tuple[str, Callable[..., Sequence[Any]]]:
    """Both as one transaction, the INSERT of so many rows, and what picks the guard's values.

    What the guard returns is asked for in the end: an UPDATE that returns something keeps copies
    of all that it changes.
    """
    guarding, pick = at_once(guard, 1)
    update, returned = guarding.rstrip().rstrip(";").split("RETURNING")
    inserting, _ = at_once(insert, count)
    answer = f"SELECT {returned} FROM sessions WHERE ref = ? AND changes() > 0"
    text = f"BEGIN IMMEDIATE; {update}; {inserting} {answer}; COMMIT"
    return " ".join(text.split()), pick  # all of it is compared before each of its statements


def portions(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    """The rows in powers of two: so few different sizes that their statements stay prepared."""
    end = 0
    while end < len(rows):
        start = end
        end += min(MOST, 1 << (len(rows) - end).bit_length() - 1)
        yield rows[start:end]
