"""How does a command list what a question answers in pages?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import click

from sexton.cli.terminal import note, page
from sexton.errors import InputInvalid
from sexton.operations.cursors import read_place

CHUNK = 500

after_option = click.option(
    "--after", metavar="CURSOR", help="Go on behind an earlier page: the 'next' of that page."
)


class Pages:
    """The items of a question up to a limit, asked for in chunks so that any limit fits in memory.

    `rest` is where the next page begins, once all items were taken.
    """

    def __init__(
        self, ask: Callable[[Any, int], Mapping[str, Any]], limit: int, after: str | None = None
    ) -> None:
        self._ask = ask
        self._limit = limit
        self.rest = after

    def __iter__(self) -> Iterator[Any]:
        left = self._limit
        while left > 0:
            found = self._ask(self.rest, min(left, CHUNK))
            yield from found["items"]
            self.rest = found["next"]
            if self.rest is None:
                return
            left -= len(found["items"])


def check_cursor(ctx: click.Context, after: str | None) -> None:
    """Refuse what no page has given as its next place."""
    if after is not None:
        try:
            read_place(after)
        except InputInvalid as problem:
            raise click.UsageError(
                f"{problem}; the page before says which one to use", ctx
            ) from None


def by_ref(after: str | None) -> int | None:
    """Where a page begins that is in the order of rows."""
    if after is None:
        return None
    if not (after.isascii() and after.isdecimal() and len(after) < 19):
        raise click.UsageError(f"'{after}' is not a cursor; the page before says which one to use")
    return int(after)


def tell_pages(
    found: Pages, show: Callable[[list[Any]], None], nothing: str, *, as_json: bool
) -> None:
    """The items for a person or a program, and where the next page begins."""
    if as_json:
        page(found, lambda: found.rest)
        return
    shown = list(found)
    if shown:
        show(shown)
    else:
        note(nothing)
    if found.rest is not None:
        note(f"for more: --after {found.rest}")
