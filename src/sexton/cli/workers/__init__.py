"""`sexton workers`: what can be asked about the processes that hold sessions?"""

from __future__ import annotations

import click

from sexton.cli.command import Group, Late


@click.group(
    "workers",
    cls=Group,
    late={"list": Late("sexton.cli.workers.worker_list", "List the processes that hold sessions.")},
    examples=("sexton workers list",),
)
def command() -> None:
    """List the processes that hold sessions."""
