"""`sexton sessions pin`: keep a session from being reset or collected."""

from __future__ import annotations

import click

from sexton.cli.arguments import session_argument
from sexton.cli.carrying_out import act
from sexton.cli.command import Command
from sexton.operations.changes.pinning import pin


@click.command("pin", cls=Command, examples=("sexton sessions pin 3f0c9a",))
@session_argument
@click.pass_context
def command(ctx: click.Context, session: str) -> None:
    """Keep a session from being reset or collected.

    A pinned session whose time has come is held back, and the plan says so. One whose process
    has died ends all the same, and keeps everything.
    """
    act(ctx, lambda asker: pin(asker, session=session))
