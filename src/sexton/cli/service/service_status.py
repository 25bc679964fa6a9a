"""`sexton service status`: is the service installed, and does it run?"""

from __future__ import annotations

import os

import click

from sexton.cli.command import Command, shared
from sexton.cli.terminal import document, say
from sexton.errors import ServiceMissing
from sexton.keeper.services import service_here


@click.command("status", cls=Command, examples=("sexton service status",))
@click.pass_context
def command(ctx: click.Context) -> None:
    """Show whether the service is installed and runs.

    The exit code is 0 only while it runs.
    """
    found = service_here(os.environ).status()
    if shared(ctx).json:
        document(
            {
                "installed": found.installed,
                "running": found.running,
                "detail": found.words,
                "file": str(found.file),
            }
        )
    elif found.installed:
        say(f"{'running' if found.running else 'not running'}: {found.words}")
        say(str(found.file))
    if not found.installed:
        raise ServiceMissing(f"there is no {found.file}")
    if not found.running:
        ctx.exit(1)
