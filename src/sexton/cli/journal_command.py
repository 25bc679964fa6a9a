"""`sexton journal`: what was done, when, by whom and why?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import click

from sexton.cli.arguments import complete_session, limit_option, named
from sexton.cli.cli_opening import existing
from sexton.cli.command import Command, shared
from sexton.cli.journal_view import show_entries
from sexton.cli.keeper_notice import note_keeper
from sexton.cli.terminal import array, note
from sexton.core.plan import JournalEntry
from sexton.core.session import Session
from sexton.operations import values as shapes
from sexton.wiring import Sexton

CHUNK = 500


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
@click.pass_context
def command(ctx: click.Context, session: str | None, receipt: str | None, limit: int) -> None:
    """Show what was done, when, by whom and why.

    Newest entries first. Entries are only ever added. Needs a ledger that exists.
    """
    options = shared(ctx)
    with existing(options) as opened:
        about = None if session is None else opened.find(session)
        entries = islice(_entries(opened, about, receipt, min(limit, CHUNK)), limit)
        if options.json:
            array(shapes.journal_entry(entry) for entry in entries)
        elif found := list(entries):
            show_entries(found)
        else:
            note("the journal has no such entry")
        note_keeper(opened.ledger, opened.clock)


def _entries(
    opened: Sexton, about: Session | None, receipt: str | None, chunk: int
) -> Iterator[JournalEntry]:
    before: int | None = None
    while page := opened.ledger.journal.page(about, receipt, before, chunk):
        for entry in page:
            if about is None or (entry.home, entry.session) == (about.home, about.id):
                yield entry
        before = page[-1].ref
