"""`sexton processes release`: let policies stop a process again."""

from __future__ import annotations

import click

from sexton.cli.carrying_out import act
from sexton.cli.command import Command
from sexton.operations.changes.process_changes import release_process


@click.command("release", cls=Command, examples=("sexton processes release 4711",))
@click.argument("pid", type=click.IntRange(min=1))
@click.pass_context
def command(ctx: click.Context, pid: int) -> None:
    """Let policies stop a process again.

    They may stop it when its session has ended, as the settings say.
    """
    act(ctx, lambda asker: release_process(asker, pid=pid))
