"""`sexton finalizers retry`: try work again that was given up."""

from __future__ import annotations

import click

from sexton.cli.arguments import session_option, yes_option
from sexton.cli.carrying_out import act
from sexton.cli.command import Command
from sexton.cli.finalizers.finalizer_choosing import all_option, finalizer_option
from sexton.operations.changes.job_changes import retry_finalizer


@click.command(
    "retry",
    cls=Command,
    examples=(
        "sexton finalizers retry --session 3f0c9a",
        "sexton finalizers retry --finalizer memories --yes",
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
    """Try work again that was given up.

    Its tries are counted from the start; a keeper takes it on at its next look.
    """
    act(
        ctx,
        lambda asker: retry_finalizer(asker, session=session, finalizer=finalizer, all=everything),
        ask=not yes,
    )
