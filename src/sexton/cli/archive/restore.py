"""`sexton archive restore`: bring back an archived session."""

from __future__ import annotations

import click

from sexton.bootstrap import Sexton
from sexton.cli.arguments import (
    dry_run_option,
    home_option,
    session_argument,
    source_option,
    yes_option,
)
from sexton.cli.command import Command, shared
from sexton.cli.homes import wanted_home
from sexton.cli.opening import existing
from sexton.cli.restoring import restore
from sexton.cli.vault_view import means_of
from sexton.engine.apply import new_receipt
from sexton.engine.removing.recover import recover
from sexton.engine.removing.undo import removed_with
from sexton.errors import InputInvalid, SessionNotFound
from sexton.model.removal import AWAY, removed
from sexton.model.session import Session

RECENT = 100


@click.command(
    "restore",
    cls=Command,
    examples=("sexton archive restore 3f0c9a", "sexton archive restore 3f0c9a --dry-run"),
)
@session_argument
@home_option
@source_option
@dry_run_option
@yes_option
@click.pass_context
def command(
    ctx: click.Context,
    session: str,
    home: str | None,
    source: str | None,
    dry_run: bool,
    yes: bool,
) -> None:
    """Bring back an archived session.

    With all its messages and files, with the rest of its conversation, and with all sessions that
    descend from it and are put away, too. Also takes a session that is in the trash; what else is
    there stays. As nothing is lost by it, nothing is asked.
    """
    del yes
    options = shared(ctx)
    with existing(options) as opened:
        means = means_of(opened)
        if not dry_run:
            recover(means, opened.estate().evidence, new_receipt())
        found = opened.find(session)
        meant = found.home if home is None else wanted_home(opened, home).name
        if (found.home, found.source) != (meant, source or found.source):
            raise SessionNotFound(f"{found.name} is of '{found.home}' and from '{found.source}'")
        if found.state not in AWAY:
            raise InputInvalid(f"{found.name} is not archived", hint=_where(opened, found))
        if opened.ledger.vault.of_session(found.ref) is None:
            raise removed(found.id, found.state, None)
        files, sessions = removed_with(opened.ledger, found)
        restore(opened, options, files, new_receipt(), dry_run=dry_run, only=sessions)


def _where(opened: Sexton, session: Session) -> str:
    """Which command brings back files that were put away while their session stayed."""
    for entry in opened.ledger.journal.page(session, None, None, RECENT):
        away = entry.action == "remove_files" and entry.result == "done"
        if away and entry.receipt and opened.ledger.vault.of_receipt(entry.receipt):
            return f"Its files were put away; 'sexton undo {entry.receipt}' brings them back."
    return f"It is {session.state}."
