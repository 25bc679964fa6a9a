"""`sexton finalizers list`: which end-of-session work is there?"""

from __future__ import annotations

from itertools import islice

import click

from sexton.cli.arguments import limit_option
from sexton.cli.cli_opening import existing
from sexton.cli.command import Command, shared
from sexton.cli.finalizers.finalizer_choosing import (
    CHUNK,
    finalizer_option,
    pages,
    session_option,
    wanted,
)
from sexton.cli.finalizers.finalizer_view import show
from sexton.cli.keeper_notice import note_keeper
from sexton.cli.terminal import array, note
from sexton.finalizers.model import FinalizationState
from sexton.operations.values import finalization as shape


@click.command(
    "list",
    cls=Command,
    examples=(
        "sexton finalizers list",
        "sexton finalizers list --state dead --json",
        "sexton finalizers list --session 3f0c9a",
    ),
)
@click.option(
    "--state",
    type=click.Choice([state.value for state in FinalizationState]),
    help="Only in this state.",
)
@finalizer_option
@session_option
@limit_option
@click.pass_context
def command(
    ctx: click.Context,
    state: str | None,
    finalizer: str | None,
    session: str | None,
    limit: int,
) -> None:
    """List end-of-session work, newest first.

    Pending work waits for its time, running work is in a keeper's hands, dead work was given up
    after the last try and waits for a person.
    """
    options = shared(ctx)
    with existing(options) as opened:
        chosen = None if state is None else FinalizationState(state)
        asked = wanted(opened, session, finalizer, chosen)
        found = map(opened.content.job, pages(opened, asked, min(limit + 1, CHUNK)))
        listed = islice(found, limit)
        if options.json:
            array(shape(each) for each in listed)
        elif shown := list(listed):
            show(shown, opened.clock.now())
        else:
            note("no such work is owed or was done")
        if next(found, None):
            note(f"there is more than {limit}: see --limit")
        note_keeper(opened.ledger, opened.clock)
