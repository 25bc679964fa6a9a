"""`sexton trash list`: what is in the trash?"""

from __future__ import annotations

import click

from sexton.cli.arguments import home_option, source_option
from sexton.cli.command import Command
from sexton.cli.vault_list import list_files
from sexton.retention.model import VaultKind


@click.command(
    "list",
    cls=Command,
    examples=("sexton trash list", "sexton trash list --source cron --json"),
)
@home_option
@source_option
@click.pass_context
def command(ctx: click.Context, home: str | None, source: str | None) -> None:
    """List what is in the trash, and until when.

    A line for each file of the vault, in the order they were made. Until its time is over, 'sexton
    undo' brings back all that went under a receipt; then a keeper removes it for good.
    """
    list_files(ctx, VaultKind.TRASH, home, source, "the trash is empty")
