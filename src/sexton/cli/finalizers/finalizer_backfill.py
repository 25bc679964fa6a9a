"""`sexton finalizers backfill`: owe work for sessions that ended before there was a finalizer."""

from __future__ import annotations

from datetime import timedelta

import click

from sexton.cli.arguments import dry_run_option, named, span_option, yes_option
from sexton.cli.carrying_out import act
from sexton.cli.cli_opening import deciding
from sexton.cli.command import Command
from sexton.operations.changes.job_changes import backfill_finalizer

LONGEST = timedelta(days=36_500)


@click.command(
    "backfill",
    cls=Command,
    examples=(
        "sexton finalizers backfill memories              # count, estimate, then ask",
        "sexton finalizers backfill memories --since 30d --yes",
    ),
)
@click.argument("finalizer", callback=named("finalizer"))
@span_option("--since", default="365d", most=LONGEST, help="How far back to look at ends.")
@dry_run_option
@yes_option
@click.pass_context
def command(ctx: click.Context, finalizer: str, since: timedelta, dry_run: bool, yes: bool) -> None:
    """Owe work for sessions that ended before there was a finalizer.

    Sessions that ended before a finalizer was configured owe it nothing, so that adding one does
    not start a storm. This shows how many there are and what their work would cost, then asks.
    """
    act(
        ctx,
        lambda asker: backfill_finalizer(asker, finalizer=finalizer, since=since),
        ask=not yes,
        dry_run=dry_run,
        opening=deciding,
    )
