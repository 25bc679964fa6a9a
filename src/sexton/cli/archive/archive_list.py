"""`sexton archive list`: what is archived?"""

from __future__ import annotations

import click

from sexton.cli.arguments import home_option, source_option
from sexton.cli.command import Command
from sexton.cli.vault_list import list_files
from sexton.retention.model import VaultKind


@click.command(
    "list",
    cls=Command,
    examples=("sexton archive list", "sexton archive list --source cron --json"),
)
@home_option
@source_option
@click.pass_context
def command(ctx: click.Context, home: str | None, source: str | None) -> None:
    """List what is archived.

    A line for each file of the vault, in the order they were made; a file holds one session with
    all that belongs to it. 'sexton sessions list --state archived' lists the sessions.
    """
    list_files(ctx, VaultKind.ARCHIVE, home, source, "nothing is archived")
