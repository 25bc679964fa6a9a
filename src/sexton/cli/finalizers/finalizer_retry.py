"""`sexton finalizers retry`: try work again that was given up."""

from __future__ import annotations

from typing import Any

import click

from sexton.cli.command import Command
from sexton.cli.finalizers.deciding import Decision, decide
from sexton.cli.finalizers.finalizer_choosing import deciding_options
from sexton.finalizers.model import FinalizationState

DECISION = Decision(
    verb="retry",
    leads_to=FinalizationState.PENDING,
)


@click.command(
    "retry",
    cls=Command,
    examples=(
        "sexton finalizers retry --session 3f0c9a",
        "sexton finalizers retry --finalizer memories --yes",
    ),
)
@deciding_options
@click.pass_context
def command(ctx: click.Context, /, **chosen: Any) -> None:
    """Try work again that was given up.

    Its tries are counted from the start; a keeper takes it on at its next look.
    """
    decide(ctx, DECISION, **chosen)
