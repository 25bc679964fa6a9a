"""`sexton budget raise`: allow more than a limit."""

from __future__ import annotations

import click

from sexton.cli.budget.budget_choosing import (
    one_unit,
    session_or_none,
    source_option,
    tree_option,
    unit_options,
)
from sexton.cli.carrying_out import act
from sexton.cli.command import Command
from sexton.operations.changes.budget_changes import raise_budget


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
    ctx: click.Context, /, session: str | None, source: str | None, tree: bool, **given: str | None
) -> None:
    """Allow more than a limit.

    Whatever counts the same thing there is raised: of a session all that bounds it, with --tree
    only what is counted for its tree, with --source the source and the day. More in a rolling
    span or a day is allowed for that span or day only. A paused session goes on at its next turn.
    """
    unit, amount = one_unit(ctx, given)
    act(
        ctx,
        lambda asker: raise_budget(
            asker, unit=unit, amount=amount, session=session, source=source, tree=tree
        ),
    )
