"""`sexton budget raise`: allow more than a limit."""
# the module of a command has its name

from __future__ import annotations

import click

from sexton.cli.budget.budget_choosing import (
    check_tree,
    one_unit,
    session_or_none,
    source_option,
    spender,
    tree_option,
    unit_options,
)
from sexton.cli.cli_opening import reaching
from sexton.cli.command import Command, shared
from sexton.cli.terminal import document, note, say
from sexton.errors import InputInvalid
from sexton.spending.budget_standing import allow, standings
from sexton.spending.budgets import shown
from sexton.spending.model import Scope


@click.command(
    "raise",
    cls=Command,
    examples=(
        "sexton budget raise 3f0c9a --tokens 50000",
        "sexton budget raise 3f0c9a --tree --tokens 1000000",
        "sexton budget raise --source cron --usd 5",
    ),
)
@session_or_none
@source_option
@tree_option
@unit_options
@click.pass_context
def command(
    ctx: click.Context, /, session: str | None, source: str | None, tree: bool, **given: int | None
) -> None:
    """Allow more than a limit.

    Whatever counts the same thing there is raised: of a session all that bounds it, with --tree
    only what is counted for its tree, with --source the source and the day. More in a rolling
    span or a day is allowed for that span or day only. A paused session goes on at its next turn.
    """
    options = shared(ctx)
    unit, amount = one_unit(ctx, given)
    check_tree(ctx, session, tree)
    with reaching(options) as opened:
        found, named = spender(ctx, opened, session, source)
        raised = [
            each
            for each in standings(opened.estate(), named)
            if each.bound.meter.unit is unit and (not tree or each.bound.meter.scope is Scope.TREE)
        ]
        if not raised:
            raise InputInvalid(
                f"no budget of {unit} is counted there",
                hint="See 'sexton budget show'; 'sexton budget set' makes one.",
            )
        for each in raised:
            allow(opened.estate(), each, amount, found)
    scopes = [each.bound.meter.scope.value for each in raised]
    if options.json:
        document({"unit": unit, "added": amount, "scopes": scopes})
    else:
        say(f"{shown(unit, amount)} more for the {', '.join(scopes)}")
    if found is not None and not found.is_open:
        note(f"the session has ended ({found.end_reason}), and more room does not open it again")
