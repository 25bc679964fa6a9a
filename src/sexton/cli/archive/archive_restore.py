"""`sexton archive restore`: bring back an archived session."""

from __future__ import annotations

import click

from sexton.cli.arguments import (
    dry_run_option,
    home_option,
    session_argument,
    source_option,
)
from sexton.cli.cli_homes import mend, wanted_home
from sexton.cli.cli_opening import existing
from sexton.cli.command import Command, shared
from sexton.cli.restoring import restore
from sexton.cli.vault_view import means_of
from sexton.core.session import Session
from sexton.errors import InputInvalid, SessionNotFound
from sexton.keeper.apply import new_receipt
from sexton.retention.model import AWAY, removed
from sexton.retention.removal_ports import VaultFile
from sexton.retention.undo import archived_files, removed_with
from sexton.wiring import Sexton

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
@click.pass_context
def command(
    ctx: click.Context,
    session: str,
    home: str | None,
    source: str | None,
    dry_run: bool,
) -> None:
    """Bring back an archived session.

    With all its messages and files, with the rest of its conversation, and with all sessions that
    descend from it and are put away, too. Where only the files of a session were archived, these
    come back. Also takes a session that is in the trash; what else is there stays. As nothing is
    lost by it, nothing is asked.
    """
    options = shared(ctx)
    with existing(options) as opened:
        if not dry_run:
            mend(opened, new_receipt())
        found = opened.find(session)
        meant = found.home if home is None else wanted_home(opened, home).name
        if (found.home, found.source) != (meant, source or found.source):
            raise SessionNotFound(f"{found.name} is of '{found.home}' and from '{found.source}'")
        if found.state not in AWAY:
            files = _files_alone(opened, found)
            restore(opened, options, files, new_receipt(), dry_run=dry_run)
            return
        if opened.ledger.vault.of_session(found.ref) is None:
            raise removed(found.id, found.state, None)
        files, sessions = removed_with(opened.ledger, found)
        restore(opened, options, files, new_receipt(), dry_run=dry_run, only=sessions)


def _files_alone(opened: Sexton, session: Session) -> list[VaultFile]:
    """The archives with the files of a session that stayed; where else these are is told."""
    entries = opened.ledger.journal.page(session, None, None, RECENT)
    away = [each for each in entries if (each.action, each.result) == ("remove_files", "done")]
    receipts = list(dict.fromkeys(each.receipt for each in away if each.receipt))
    found = archived_files(means_of(opened), session, receipts)
    if found:
        return found
    hint = f"It is {session.state}."
    for receipt in receipts:
        if opened.ledger.vault.of_receipt(receipt):
            hint = f"Its files were put away; 'sexton undo {receipt}' brings them back."
            break
    raise InputInvalid(f"{session.name} is not archived", hint=hint)
