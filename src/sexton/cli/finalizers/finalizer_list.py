"""`sexton finalizers list`: which end-of-session work is there?"""

from __future__ import annotations

import click

from sexton.cli.arguments import limit_option, session_option
from sexton.cli.cli_opening import existing
from sexton.cli.command import Command, shared
from sexton.cli.finalizers.finalizer_choosing import finalizer_option
from sexton.cli.finalizers.finalizer_view import show
from sexton.cli.keeper_notice import note_keeper
from sexton.cli.paging import Pages, after_option, by_ref, tell_pages
from sexton.finalizers.model import FinalizationState
from sexton.operations.asker import Asker
from sexton.operations.questions.job_questions import finalizers


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
@after_option
@click.pass_context
def command(
    ctx: click.Context,
    state: str | None,
    finalizer: str | None,
    session: str | None,
    limit: int,
    after: str | None,
) -> None:
    """List end-of-session work, newest first.

    Pending work waits for its time, running work is in a keeper's hands, dead work was given up
    after the last try and waits for a person.
    """
    options = shared(ctx)
    with existing(options) as opened:
        asker, chosen = Asker(house=opened), None if state is None else FinalizationState(state)
        found = Pages(
            lambda rest, most: finalizers(
                asker,
                state=chosen,
                finalizer=finalizer,
                session=session,
                after=by_ref(rest),
                limit=most,
            ),
            limit,
            after,
        )
        now = opened.clock.now()
        tell_pages(
            found,
            lambda shown: show(shown, now),
            "no such work is owed or was done",
            as_json=options.json,
        )
        note_keeper(opened.ledger, opened.clock)
