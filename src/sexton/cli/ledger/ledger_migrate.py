"""`sexton ledger migrate`: bring the ledger to the schema of this Sexton."""

from __future__ import annotations

import click

from sexton.cli.cli_opening import chosen_url
from sexton.cli.command import Command, shared
from sexton.cli.terminal import document, say
from sexton.store.migrations import latest
from sexton.store.opening import masked, open_database


@click.command(
    "migrate",
    cls=Command,
    examples=("sexton ledger migrate --ledger postgresql://db/sexton    # once, from one machine",),
)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Bring the ledger to the schema of this Sexton.

    A file is brought up to date whenever it is opened; a shared PostgreSQL ledger only by this
    command, so that nobody changes it behind the backs of its other users. Older programs go on
    working as long as the ledger says so. A ledger that does not exist yet is made.
    """
    options = shared(ctx)
    url = chosen_url(options)
    database = open_database(url, upgrade=True)
    schema = latest(database.dialect)
    database.close()
    if options.json:
        document({"ledger": masked(url), "schema": schema})
    else:
        say(f"the ledger {masked(url)} has schema {schema}")
