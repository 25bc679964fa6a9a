"""`sexton archive`: what can be asked about what was put away, and done with it?"""

from __future__ import annotations

import click

from sexton.cli.command import Group, Late

_HERE = "sexton.cli.archive"


@click.group(
    "archive",
    cls=Group,
    late={
        "list": Late(_HERE, "List what is archived."),
        "restore": Late(_HERE, "Bring back an archived session."),
        "verify": Late(_HERE, "Check that everything put away can be read."),
    },
    examples=(
        "sexton archive list",
        "sexton archive restore SESSION",
        "sexton archive verify         # also the trash",
    ),
)
def command() -> None:
    """List, restore and verify what was put away."""
