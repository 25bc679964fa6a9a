"""`sexton budget set`: give one session, tree or source a limit of its own."""

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
from sexton.operations.changes.budget_changes import set_budget
from sexton.spending.model import Act


@click.command(
    "set",
    cls=Command,
    examples=(
        "sexton budget set 3f0c9a --tokens 100000 --action kill",
        "sexton budget set 3f0c9a --tree --usd 5",
        "sexton budget set --source cron --usd 20",
    ),
)
@session_or_none
@source_option
@tree_option
@unit_options
@click.option(
    "--action",
    type=click.Choice([each.value for each in Act]),
    default=Act.PAUSE.value,
    show_default=True,
    help="What happens at the limit.",
)
@click.pass_context
def command(
    ctx: click.Context,
    /,
    session: str | None,
    source: str | None,
    tree: bool,
    action: str,
    **given: str | None,
) -> None:
    """Give one session, tree or source a limit of its own.

    It takes the place of what the settings say there, also below what is spent already: then
    nothing more is spent. An agent that runs learns of it from its next call. 'sexton budget clear'
    takes it away again.
    """
    unit, amount = one_unit(ctx, given)
    act(
        ctx,
        lambda asker: set_budget(
            asker,
            unit=unit,
            amount=amount,
            session=session,
            source=source,
            tree=tree,
            action=Act(action),
        ),
    )
