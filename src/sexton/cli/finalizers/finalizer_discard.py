"""`sexton finalizers discard`: count work as done that is not to be done."""

from __future__ import annotations

import click

from sexton.cli.arguments import session_option, yes_option
from sexton.cli.carrying_out import act
from sexton.cli.command import Command
from sexton.cli.finalizers.finalizer_choosing import all_option, finalizer_option
from sexton.operations.changes.job_changes import discard_finalizer


@click.command(
    "discard",
    cls=Command,
    examples=(
        "sexton finalizers discard --session 3f0c9a",
        "sexton finalizers discard --finalizer memories --yes",
    ),
)
@session_option
@finalizer_option
@all_option
@yes_option
@click.pass_context
def command(
    ctx: click.Context, session: str | None, finalizer: str | None, everything: bool, yes: bool
) -> None:
    """Count work as done that is not to be done.

    Nothing is carried out for it, and its session is free to be archived. What is running is left
    alone.
    """
    act(
        ctx,
        lambda asker: discard_finalizer(
            asker, session=session, finalizer=finalizer, all=everything
        ),
        ask=not yes,
    )
