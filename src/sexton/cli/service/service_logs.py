"""`sexton service logs`: what did the service write?"""

from __future__ import annotations

import os
import subprocess

import click

from sexton.cli.command import Command
from sexton.errors import ServiceFailed
from sexton.keeper.services import service_here


@click.command(
    "logs", cls=Command, examples=("sexton service logs", "sexton service logs -n 500 --follow")
)
@click.option(
    "-n",
    "--lines",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="So many lines from the end.",
)
@click.option("-f", "--follow", is_flag=True, help="Go on showing what is written, until Ctrl-C.")
@click.pass_context
def command(ctx: click.Context, lines: int, follow: bool) -> None:
    """Show what the service wrote.

    By journalctl where systemd runs it, from its file on macOS.
    """
    words = list(service_here(os.environ).logs(lines, follow=follow))
    try:
        done = subprocess.run(words, check=False)
    except FileNotFoundError:
        raise ServiceFailed(f"there is no '{words[0]}' on this machine") from None
    except KeyboardInterrupt:
        return
    ctx.exit(done.returncode)
