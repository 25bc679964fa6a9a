"""`sexton sessions unpin`: let a session be reset and collected again."""

from __future__ import annotations

import click

from sexton.cli.arguments import session_argument
from sexton.cli.carrying_out import act
from sexton.cli.command import Command
from sexton.operations.changes.pinning import unpin


@click.command("unpin", cls=Command, examples=("sexton sessions unpin 3f0c9a",))
@session_argument
@click.pass_context
def command(ctx: click.Context, session: str) -> None:
    """Let rules reset and collect a session again.

    A pin that the session's own home has put there stays: only there can it be taken off.
    """
    act(ctx, lambda asker: unpin(asker, session=session))
