"""Whose budgets are meant, and which unit?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from sexton.cli.arguments import complete_session, named
from sexton.cli.terminal import note
from sexton.sessions.model import Filter
from sexton.spending.model import Unit
from sexton.wiring import Sexton

F = Callable[..., Any]

session_or_none = click.argument(
    "session", required=False, callback=named("session"), shell_complete=complete_session
)
source_option = click.option(
    "--source", callback=named("source"), metavar="NAME", help="A source, instead of a session."
)
tree_option = click.option(
    "--tree", is_flag=True, help="The tree of the session, with subagents and compressions."
)


def unit_options(function: F) -> F:
    """An option for each thing that can be counted."""
    for unit in reversed(Unit):
        kind = {Unit.USD: "DOLLARS", Unit.WALL: "DURATION"}.get(unit, "N")
        name, words = f"--{unit.replace('_', '-')}", _WORDS.get(unit, unit.replace("_", " "))
        option = click.option(name, unit.value, metavar=kind, help=f"So many {words}.")
        function = option(function)
    return function


def one_unit(ctx: click.Context, given: dict[str, str | None]) -> tuple[Unit, str]:
    """The one thing that was given an amount."""
    found = [(Unit(name), amount) for name, amount in given.items() if amount is not None]
    if len(found) != 1:
        options = ", ".join(f"--{unit.replace('_', '-')}" for unit in Unit)
        raise click.UsageError(f"say how much of one thing: {options}", ctx)
    return found[0]


def note_unknown(opened: Sexton, source: str | None) -> None:
    """Say that no session is of a source: its name may be mistyped, or its first may be to come."""
    if source is not None and not opened.ledger.index.page(Filter(source=source), None, 1):
        note(f"no session has the source '{source}' yet")


_WORDS = {Unit.TOKENS: "tokens of all kinds", Unit.USD: "dollars", Unit.WALL: "hours or minutes"}
