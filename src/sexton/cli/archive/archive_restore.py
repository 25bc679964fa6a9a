"""`sexton archive restore`: bring back an archived session."""

from __future__ import annotations

import click

from sexton.cli.arguments import dry_run_option, home_option, session_argument, source_option
from sexton.cli.carrying_out import act
from sexton.cli.cli_homes import name_of_home
from sexton.cli.command import Command
from sexton.operations.changes.restoring import restore


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
    ctx: click.Context, session: str, home: str | None, source: str | None, dry_run: bool
) -> None:
    """Bring back an archived session.

    With all its messages and files, with the rest of its conversation, and with all sessions that
    descend from it and are put away, too. Where only the files of a session were archived, these
    come back. Also takes a session that is in the trash; what else is there stays. As nothing is
    lost by it, nothing is asked.
    """
    act(
        ctx,
        lambda asker: restore(
            asker, session=session, home=name_of_home(asker.house, home), source=source
        ),
        dry_run=dry_run,
    )
