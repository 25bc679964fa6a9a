"""`sexton trash`: what can be asked about the trash, and done with it?"""

from __future__ import annotations

import click

from sexton.cli.command import Group, Late


@click.group(
    "trash",
    cls=Group,
    late={
        "list": Late("sexton.cli.trash.trash_list", "List what is in the trash, and until when."),
        "empty": Late("sexton.cli.trash.trash_empty", "Give up for good what is in the trash."),
    },
    examples=(
        "sexton trash list",
        "sexton undo RECEIPT           # have it back",
        "sexton trash empty            # what is past its time",
    ),
)
def command() -> None:
    """List and empty the trash."""
