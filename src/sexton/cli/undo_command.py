"""`sexton undo`: bring back what was removed or ended."""

from __future__ import annotations

import click

from sexton.cli.arguments import dry_run_option, home_option, named, source_option
from sexton.cli.cli_homes import mend, wanted_home
from sexton.cli.cli_opening import existing
from sexton.cli.command import Command, shared
from sexton.cli.restoring import ended_sessions, open_again, restore, would_open
from sexton.cli.vault_view import means_of
from sexton.errors import NothingToUndo
from sexton.keeper.apply import new_receipt
from sexton.keeper.reopening import something_opened
from sexton.retention.undo import files_to_undo


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
    options = shared(ctx)
    with existing(options) as opened:
        means = means_of(opened)
        if not dry_run:
            mend(opened, new_receipt())
        name = None if home is None else wanted_home(opened, home).name
        ended = ended_sessions(opened, receipt, name, source)
        found = [
            file
            for file in files_to_undo(means, receipt, required=not ended)
            if name in (None, file.home) and source in (None, file.source)
        ]
        if not (found or ended):
            raise NothingToUndo(f"receipt {receipt} stands for nothing like that")
        again = new_receipt()
        done = would_open(opened, ended) if dry_run else open_again(opened, ended, again, receipt)
        if not (found or dry_run):
            something_opened(done)
        restore(opened, options, found, again, dry_run=dry_run, opened_again=done)
