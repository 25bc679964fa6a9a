"""`sexton archive`: what can be asked about what was put away, and done with it?"""

from __future__ import annotations

import click

from sexton.cli.command import Group, Late


@click.group(
    "archive",
    cls=Group,
    late={
        "list": Late("sexton.cli.archive.archive_list", "List what is archived."),
        "restore": Late("sexton.cli.archive.archive_restore", "Bring back an archived session."),
        "verify": Late(
            "sexton.cli.archive.archive_verify", "Check that everything put away can be read."
        ),
    },
    examples=(
        "sexton archive list",
        "sexton archive restore SESSION",
        "sexton archive verify         # also the trash",
    ),
)
def command() -> None:
    """List, restore and verify what was put away."""
