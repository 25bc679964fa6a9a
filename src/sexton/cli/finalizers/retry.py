"""`sexton finalizers retry`: try work again that was given up."""

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

OPEN_TO_IT = (FinalizationState.DEAD,)


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
    options = shared(ctx)
    check_chosen(session, finalizer, everything)
    with existing(options) as opened:
        found = [
            each
            for state in OPEN_TO_IT
            for each in pages(opened, wanted(opened, session, finalizer, state))
        ]
        state = FinalizationState.PENDING
        decide(opened, found, state, verb="retry", yes=yes, as_json=options.json)
