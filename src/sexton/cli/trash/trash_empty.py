"""`sexton trash empty`: give up for good what is in the trash."""

from __future__ import annotations

import click

from sexton.cli.arguments import dry_run_option, home_option, source_option, yes_option
from sexton.cli.carrying_out import act
from sexton.cli.cli_homes import name_of_home
from sexton.cli.command import Command
from sexton.operations.changes.clearing import empty_trash


@click.command(
    "empty",
    cls=Command,
    examples=(
        "sexton trash empty                   # what is past its time; keepers do it, too",
        "sexton trash empty --all --source cron",
        "sexton trash empty --dry-run",
    ),
)
@click.option("--all", "everything", is_flag=True, help="Also what could still be brought back.")
@home_option
@source_option
@dry_run_option
@yes_option
@click.pass_context
def command(
    ctx: click.Context,
    everything: bool,
    home: str | None,
    source: str | None,
    dry_run: bool,
    yes: bool,
) -> None:
    """Give up for good what is in the trash.

    Without --all only what is past its time. This can not be undone: of each session the row
    stays, with its dates and counts, and nothing of what was said. What was pinned meanwhile, or
    owes work again, stays. Only files of this machine are removed.
    """
    act(
        ctx,
        lambda asker: empty_trash(
            asker, all=everything, home=name_of_home(asker.house, home), source=source
        ),
        ask=not yes,
        dry_run=dry_run,
    )
