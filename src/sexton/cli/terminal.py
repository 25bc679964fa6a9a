"""How does text reach a terminal, a pipe or a program?

Titles, keys and previews come from strangers: whatever is shown passes `one_line` first, so that
no control character and no direction mark of theirs acts on a terminal.
"""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from sexton.core.message import one_line

GAP = "  "
LEAST = 10  # what is left of a column that is cut


class Column(NamedTuple):
    """A column's title, its side, and whether a narrow terminal may cut it or do without it."""

    title: str
    right: bool = False
    cut: bool = False
    spare: bool = False


def write(text: str) -> None:
    """Text on standard output, as it is."""
    sys.stdout.write(text)


def say(text: str = "") -> None:
    """A line on standard output."""
    write(one_line(text) + "\n")


def note(text: str) -> None:
    """A line on standard error, beside the answer and behind what was said before."""
    sys.stdout.flush()
    sys.stderr.write(one_line(text) + "\n")


def heading(text: str) -> None:
    """A line that stands out on a terminal."""
    line = one_line(text)
    write(f"{line}\n" if is_plain() else f"\x1b[1m{line}\x1b[0m\n")


def is_plain() -> bool:
    """Whether text is all that can be shown, or all that is wanted."""
    unable = not sys.stdout.isatty() or os.environ.get("TERM", "dumb") == "dumb"
    return unable or bool(os.environ.get("NO_COLOR"))


def document(value: Any) -> None:
    """One JSON document on standard output; in ASCII, so that no terminal takes it for orders."""
    write(json.dumps(value, indent=2) + "\n")


def json_line(value: Any) -> None:
    """One JSON value on a line of its own, at once."""
    write(json.dumps(value, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def page(values: Iterable[Any], rest: Callable[[], str | None] = lambda: None) -> None:
    """A page of a list as JSON on standard output, written as its values come.

    `rest` is asked at the end where the next page begins.
    """
    before = '{\n  "items": ['
    for value in values:
        text = json.dumps(value, indent=2).replace("\n", "\n    ")
        write(f"{before}\n    {text}")
        before = ","
    write(f"{before}]" if before != "," else "\n  ]")
    write(f',\n  "next": {json.dumps(rest())}\n}}\n')


def table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> None:
    """Rows under their titles: to fit on a terminal, whole in a pipe."""
    shown = [[one_line(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        _rich_table(columns, shown)
    else:
        for line in plain_table(columns, shown):
            write(f"{line}\n")


def pairs(facts: Iterable[tuple[str, str | None]]) -> None:
    """What is known, line by line; what is not known is left out."""
    known = [(name, one_line(value)) for name, value in facts if value]
    width = max((len(name) for name, _ in known), default=0)
    for name, value in known:
        write(f"{name:<{width}}{GAP}{value}\n")


def plain_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines of aligned columns, made of nothing but the cells and spaces."""
    widths = natural_widths(columns, rows)
    for line in ([column.title for column in columns], *rows):
        padded = (
            _pad(cell, width, right=column.right)
            for cell, width, column in zip(line, widths, columns, strict=True)
        )
        yield GAP.join(padded).rstrip()


def natural_widths(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[int]:
    """How wide every column would like to be."""
    return [
        max(cells(text) for text in (column.title, *(row[place] for row in rows)))
        for place, column in enumerate(columns)
    ]


def fitting(columns: Sequence[Column], wishes: Sequence[int], width: int) -> dict[int, int]:
    """The columns that fit beside one another, and how wide each of them may be."""
    least = {
        place: min(wish, LEAST) if columns[place].cut else wish for place, wish in enumerate(wishes)
    }
    while _taken(least) > width and (spare := [p for p in least if columns[p].spare]):
        del least[spare[-1]]
    given = dict(least)
    cut = [place for place in given if columns[place].cut]
    for left, place in zip(range(len(cut), 0, -1), cut, strict=True):
        room = max(0, width - _taken(given)) // left
        given[place] += min(room, wishes[place] - given[place])
    return given


def cells(text: str) -> int:
    """How many places of a terminal the text takes."""
    return sum(_cell(character) for character in text)


@contextmanager
def progress(words: str) -> Iterator[Callable[[int], None]]:
    """Show on a terminal that something is under way; calling it counts what is done."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TextColumn("{task.completed}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(one_line(words), total=None)
        yield lambda done: shown.advance(task, done)


@contextmanager
def bar(words: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show on a terminal how far something is, and when it will be done."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(one_line(words), total=total)
        yield lambda done: shown.advance(task, done)


def _rich_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(markup=False, highlight=False, emoji=False)
    widths = fitting(columns, natural_widths(columns, rows), console.width)
    drawn = Table(
        box=None,
        pad_edge=False,
        padding=(0, len(GAP), 0, 0),
        header_style="" if is_plain() else "bold",
    )
    for place, width in widths.items():
        drawn.add_column(
            columns[place].title,
            justify="right" if columns[place].right else "left",
            no_wrap=columns[place].cut,
            overflow="ellipsis" if columns[place].cut else "fold",
            width=width,
        )
    for row in rows:
        drawn.add_row(*(Text(row[place]) for place in widths))
    console.print(drawn)


def _taken(widths: dict[int, int]) -> int:
    return sum(widths.values()) + len(GAP) * len(widths)


def _pad(cell: str, width: int, *, right: bool) -> str:
    space = " " * (width - cells(cell))
    return space + cell if right else cell + space


def _cell(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
