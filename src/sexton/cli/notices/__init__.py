"""`sexton notices`: what were people told, and did it reach them?"""

from __future__ import annotations

import click

from sexton.cli.command import Group, Late


@click.group(
    "notices",
    cls=Group,
    late={
        "list": Late("sexton.cli.notices.notice_list", "List what people were told, newest first.")
    },
    examples=("sexton notices list --state failed   # what never reached anybody, and why",),
)
def command() -> None:
    """List what people were told."""
