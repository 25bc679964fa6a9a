"""`sexton journal`: what was done, when, by whom and why?"""

from __future__ import annotations

import click

from sexton.cli.arguments import complete_session, limit_option, named
from sexton.cli.cli_opening import existing
from sexton.cli.command import Command, shared
from sexton.cli.journal_view import show_entries
from sexton.cli.keeper_notice import note_keeper
from sexton.cli.paging import Pages, after_option, by_ref, tell_pages
from sexton.operations.asker import Asker
from sexton.operations.questions.journal_questions import journal


@click.command(
    "journal",
    cls=Command,
    examples=(
        "sexton journal                       # the newest entries",
        "sexton journal --session 3f0c9a      # everything about one session",
        "sexton journal --receipt 1f2e3d      # everything one apply did",
    ),
)
@click.option(
    "--session",
    callback=named("session"),
    shell_complete=complete_session,
    metavar="SESSION",
    help="Only entries about this session.",
)
@click.option(
    "--receipt", callback=named("receipt"), metavar="RECEIPT", help="Only what this apply did."
)
@limit_option
@after_option
@click.pass_context
def command(
    ctx: click.Context, session: str | None, receipt: str | None, limit: int, after: str | None
) -> None:
    """Show what was done, when, by whom and why.

    Newest entries first. Entries are only ever added. Needs a ledger that exists.
    """
    options = shared(ctx)
    with existing(options) as opened:
        asker = Asker(house=opened)
        found = Pages(
            lambda rest, most: journal(
                asker, session=session, receipt=receipt, after=by_ref(rest), limit=most
            ),
            limit,
            after,
        )
        tell_pages(found, show_entries, "the journal has no such entry", as_json=options.json)
        note_keeper(opened.ledger, opened.clock)
