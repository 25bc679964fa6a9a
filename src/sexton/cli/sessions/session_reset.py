"""`sexton sessions reset`: let a conversation begin anew."""

from __future__ import annotations

import click

from sexton.cli.arguments import session_argument
from sexton.cli.carrying_out import act
from sexton.cli.command import Command
from sexton.operations.changes.ending import reset


@click.command(
    "reset",
    cls=Command,
    examples=("sexton sessions reset 3f0c9a", "sexton sessions reset 3f0c9a --force"),
)
@session_argument
@click.option("--force", is_flag=True, help="Also while a turn or a process of it runs.")
@click.pass_context
def command(ctx: click.Context, session: str, force: bool) -> None:
    """End a session so that its key begins anew.

    The session ends with the reason 'reset'; the next message of its key opens a new one. While a
    turn runs in it this is refused, unless it is forced: the turn's later writes are refused then.
    The same while background processes of it run, which would be left to the policies.
    """
    act(ctx, lambda asker: reset(asker, session=session, force=force), until_done=True)
