"""`sexton processes keep`: keep a process from being stopped by policy."""

from __future__ import annotations

import click

from sexton.cli.carrying_out import act
from sexton.cli.command import Command
from sexton.operations.changes.process_changes import keep_process


@click.command("keep", cls=Command, examples=("sexton processes keep 4711",))
@click.argument("pid", type=click.IntRange(min=1))
@click.pass_context
def command(ctx: click.Context, pid: int) -> None:
    """Keep a process from being stopped by policy.

    It runs on when its session ends, and nobody is told of it. It holds no reset back by that.
    """
    act(ctx, lambda asker: keep_process(asker, pid=pid))
