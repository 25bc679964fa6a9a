"""`sexton finalizers`: what can be asked about end-of-session work, and decided?"""

from __future__ import annotations

import click

from sexton.cli.command import Group, Late


@click.group(
    "finalizers",
    cls=Group,
    late={
        "list": Late(
            "sexton.cli.finalizers.finalizer_list", "List end-of-session work, newest first."
        ),
        "show": Late(
            "sexton.cli.finalizers.finalizer_show", "Show the end-of-session work of one session."
        ),
        "retry": Late("sexton.cli.finalizers.finalizer_retry", "Try work again that was given up."),
        "discard": Late(
            "sexton.cli.finalizers.finalizer_discard", "Count work as done that is not to be done."
        ),
        "backfill": Late(
            "sexton.cli.finalizers.finalizer_backfill",
            "Owe work for sessions that ended before there was a finalizer.",
        ),
    },
    examples=(
        "sexton finalizers list --state dead   # what was given up, and why",
        "sexton finalizers retry --all         # try all of it again",
        "sexton finalizers backfill memories   # also for sessions that ended before",
    ),
)
def command() -> None:
    """List, show and decide about end-of-session work."""
