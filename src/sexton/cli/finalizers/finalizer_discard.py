"""`sexton finalizers discard`: count work as done that is not to be done."""

from __future__ import annotations

from typing import Any

import click

from sexton.cli.command import Command
from sexton.cli.finalizers.deciding import Decision, decide
from sexton.cli.finalizers.finalizer_choosing import deciding_options
from sexton.finalizers.model import FinalizationState

DECISION = Decision(
    verb="discard",
    leads_to=FinalizationState.DONE,
)


@click.command(
    "discard",
    cls=Command,
    examples=(
        "sexton finalizers discard --session 3f0c9a",
        "sexton finalizers discard --finalizer memories --yes",
    ),
)
@deciding_options
@click.pass_context
def command(ctx: click.Context, /, **chosen: Any) -> None:
    """Count work as done that is not to be done.

    Nothing is carried out for it, and its session is free to be archived. What is running is left
    alone.
    """
    decide(ctx, DECISION, **chosen)
