"""`sexton finalizers discard`: count work as done that is not to be done."""

from __future__ import annotations

import click

from sexton.cli.arguments import yes_option
from sexton.cli.command import Command, shared
from sexton.cli.finalizers.choosing import (
    all_option,
    check_chosen,
    finalizer_option,
    pages,
    session_option,
    wanted,
)
from sexton.cli.finalizers.deciding import decide
from sexton.cli.opening import existing
from sexton.model.finalization import FinalizationState

OPEN_TO_IT = (FinalizationState.PENDING, FinalizationState.DEAD)


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
    options = shared(ctx)
    check_chosen(session, finalizer, everything)
    with existing(options) as opened:
        found = [
            each
            for state in OPEN_TO_IT
            for each in pages(opened, wanted(opened, session, finalizer, state))
        ]
        state = FinalizationState.DONE
        decide(opened, found, state, verb="discard", yes=yes, as_json=options.json)
