"""`sexton undo`: bring back what was removed or ended."""

from __future__ import annotations

import click

from sexton.cli.arguments import dry_run_option, home_option, named, source_option
from sexton.cli.carrying_out import act
from sexton.cli.cli_homes import name_of_home
from sexton.cli.command import Command
from sexton.operations.changes.restoring import undo


@click.command(
    "undo",
    cls=Command,
    examples=(
        "sexton undo 3f0c9a71b2d4             # the receipt as 'trash list' shows it",
        "sexton undo 3f0c9a71b2d4 --source cron --dry-run",
    ),
)
@click.argument("receipt", callback=named("receipt"))
@home_option
@source_option
@dry_run_option
@click.pass_context
def command(
    ctx: click.Context,
    receipt: str,
    home: str | None,
    source: str | None,
    dry_run: bool,
) -> None:
    """Bring back what was removed or ended.

    RECEIPT is what 'gc', 'apply' and 'sessions end' said and 'journal' lists. Sessions come back
    with all their messages and files, exactly as they were, as long as they are in the trash or the
    archive. A file is never written over another one. Sessions that were ended are opened again,
    unless their conversation has gone on in another one since; whoever held one before is refused,
    and whoever comes next takes it up. As nothing is lost by it, nothing is asked. An undo is not
    undone itself: 'plan' and 'gc' show again what is due.
    """
    act(
        ctx,
        lambda asker: undo(
            asker, receipt=receipt, home=name_of_home(asker.house, home), source=source
        ),
        dry_run=dry_run,
    )
