"""`sexton finalizers`: what can be asked about end-of-session work, and decided?"""

from __future__ import annotations

import click

from sexton.cli.command import Group, Late

_HERE = "sexton.cli.finalizers"


@click.group(
    "finalizers",
    cls=Group,
    late={
        "list": Late(_HERE, "List end-of-session work, newest first."),
        "show": Late(_HERE, "Show the end-of-session work of one session."),
        "retry": Late(_HERE, "Try work again that was given up."),
        "discard": Late(_HERE, "Count work as done that is not to be done."),
        "backfill": Late(_HERE, "Owe work for sessions that ended before there was a finalizer."),
    },
    examples=(
        "sexton finalizers list --state dead   # what was given up, and why",
        "sexton finalizers retry --all         # try all of it again",
        "sexton finalizers backfill memories   # also for sessions that ended before",
    ),
)
def command() -> None:
    """List, show and decide about end-of-session work."""
