"""`sexton service uninstall`: stop the service and take it away."""

from __future__ import annotations

import os

import click

from sexton.cli.command import Command, shared
from sexton.cli.terminal import document, say
from sexton.keeper.services import service_here


@click.command("uninstall", cls=Command, examples=("sexton service uninstall",))
@click.pass_context
def command(ctx: click.Context) -> None:
    """Stop the service and take it away.

    The ledger and the settings stay as they are.
    """
    service = service_here(os.environ)
    service.uninstall()
    if shared(ctx).json:
        document({"file": str(service.file), "installed": False})
    else:
        say(f"the service is gone: {service.file}")
