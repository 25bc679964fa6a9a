"""`sexton archive restore`: bring back an archived session."""

from __future__ import annotations

import click

from sexton.cli.arguments import dry_run_option, session_argument, yes_option
from sexton.cli.command import Command, shared
from sexton.cli.opening import existing
from sexton.cli.restoring import restore
from sexton.cli.vault_view import means_of
from sexton.engine.apply import new_receipt
from sexton.engine.removing.recover import recover
from sexton.errors import InputInvalid
from sexton.model.removal import AWAY, removed


@click.command(
    "restore",
    cls=Command,
    examples=("sexton archive restore 3f0c9a", "sexton archive restore 3f0c9a --dry-run"),
)
@session_argument
@dry_run_option
@yes_option
@click.pass_context
def command(ctx: click.Context, session: str, dry_run: bool, yes: bool) -> None:
    """Bring back an archived session.

    With all its messages and files, and with everything that was archived together with it: its
    conversation and its children. Also takes a session that is in the trash. As nothing is lost by
    it, nothing is asked.
    """
    del yes
    options = shared(ctx)
    with existing(options) as opened:
        means = means_of(opened)
        if not dry_run:
            recover(means, opened.estate().evidence, new_receipt())
        found = opened.find(session)
        if found.state not in AWAY:
            raise InputInvalid(f"{found.name} is not archived", hint=f"It is {found.state}.")
        file = opened.ledger.vault.of_session(found.ref)
        if file is None:
            raise removed(found.id, found.state, None)
        restore(opened, options, [file], new_receipt(), dry_run=dry_run)
