"""Whose budgets are meant, and which unit?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from sexton.cli.arguments import complete_session, named
from sexton.cli.terminal import note
from sexton.core.session import Session
from sexton.operations.verbs import changeable
from sexton.sessions.session_ports import Filter
from sexton.settings.quantities import parse_duration
from sexton.spending.budget_standing import NOWHERE, who
from sexton.spending.budgets import MOST
from sexton.spending.model import Meter, Scope, Unit, Who
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
        option = click.option(
            name, unit.value, metavar=kind, callback=_amount(unit), help=f"So many {words}."
        )
        function = option(function)
    return function


def one_unit(ctx: click.Context, given: dict[str, int | None]) -> tuple[Unit, int]:
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


def check_tree(ctx: click.Context, session: str | None, tree: bool) -> None:
    """Only sessions have trees."""
    if tree and session is None:
        raise click.UsageError("name a session: --tree is the tree of one", ctx)


def spender(
    ctx: click.Context, opened: Sexton, session: str | None, source: str | None
) -> tuple[Session | None, Who]:
    """Whose budgets are meant."""
    if (session is None) == (source is None):
        raise click.UsageError("name a session, or a source with --source", ctx)
    if session is None:
        note_unknown(opened, source)
        return None, Who(NOWHERE, NOWHERE, source or "")
    found = changeable(opened.estate(), opened.find(session))
    return found, who(opened.estate(), found)


def meter(spends: Who, unit: Unit, *, tree: bool) -> Meter:
    """Where the spending is counted for ever."""
    if spends.session == NOWHERE:
        return Meter(Scope.SOURCE, spends.source, unit)
    if tree:
        return Meter(Scope.TREE, str(spends.root), unit)
    return Meter(Scope.SESSION, str(spends.session), unit)


def _amount(unit: Unit) -> Callable[[click.Context, click.Parameter, str | None], int | None]:
    def read(ctx: click.Context, option: click.Parameter, value: str | None) -> int | None:
        if value is None:
            return None
        amount = _read(unit, value)
        if amount is None or not 1 <= amount <= MOST:
            example = {Unit.USD: "12.50", Unit.WALL: "8h"}.get(unit, "100000")
            raise click.BadParameter(f"must be an amount like {example}", ctx, option)
        return amount

    return read


def _read(unit: Unit, value: str) -> int | None:
    if unit is Unit.WALL:
        span = parse_duration(value)
        return None if span is None else int(span.total_seconds() * 1000)
    if unit is Unit.USD:
        whole, _, part = value.partition(".")
        digits = (whole + part).isascii() and (whole + part).isdecimal()
        return round(float(value) * 1_000_000) if digits and len(value) < 15 else None
    digits_only = value.replace("_", "")
    is_number = digits_only.isascii() and digits_only.isdecimal() and len(digits_only) < 15
    return int(digits_only) if is_number else None


_WORDS = {Unit.TOKENS: "tokens of all kinds", Unit.USD: "dollars", Unit.WALL: "hours or minutes"}
