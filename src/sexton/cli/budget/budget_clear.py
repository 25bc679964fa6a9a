"""`sexton budget clear`: take a limit away that a person has set."""

from __future__ import annotations

import click

from sexton.cli.budget.budget_choosing import session_or_none, source_option, tree_option
from sexton.cli.carrying_out import act
from sexton.cli.command import Command
from sexton.operations.changes.budget_changes import clear_budget
from sexton.spending.model import Unit


@click.command(
    "clear",
    cls=Command,
    examples=("sexton budget clear 3f0c9a", "sexton budget clear --source cron --unit usd"),
)
@session_or_none
@source_option
@tree_option
@click.option(
    "--unit",
    type=click.Choice([each.value for each in Unit]),
    help="Only the limit of this unit. [default: all that were set there]",
)
@click.pass_context
def command(
    ctx: click.Context, session: str | None, source: str | None, tree: bool, unit: str | None
) -> None:
    """Take a limit away that was given to one session, its tree or a source.

    What the settings say there holds again.
    """
    act(
        ctx,
        lambda asker: clear_budget(
            asker,
            unit=None if unit is None else Unit(unit),
            session=session,
            source=source,
            tree=tree,
        ),
    )
