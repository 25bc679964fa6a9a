"""`sexton sessions end`: end a session."""

from __future__ import annotations

import click

from sexton.cli.arguments import session_argument, yes_option
from sexton.cli.carrying_out import act
from sexton.cli.command import Command
from sexton.core.session import check_end_reason
from sexton.operations.changes.ending import end


@click.command(
    "end",
    cls=Command,
    examples=(
        "sexton sessions end 3f0c9a",
        "sexton sessions end 3f0c9a --reason abandoned --yes",
    ),
)
@session_argument
@click.option(
    "--reason",
    callback=lambda _, __, reason: check_end_reason(reason),
    default="closed",
    show_default=True,
    metavar="REASON",
    help="The reason that is recorded, a word for programs.",
)
@click.option("--force", is_flag=True, help="End it also while a turn runs in it.")
@yes_option
@click.pass_context
def command(ctx: click.Context, session: str, reason: str, force: bool, yes: bool) -> None:
    """End a session.

    Whoever still writes to it is refused from then on, so this is refused while a turn runs in it,
    unless it is forced. The first reason wins: a session that has
    ended already is an error and stays as it is. In a home of another agent this takes 'act: true':
    a conversation of its gateway begins anew with the next message, and a turn that runs with the
    plugin stops at its next call.
    """
    act(
        ctx,
        lambda asker: end(asker, session=session, reason=reason, force=force),
        ask=not yes,
        until_done=True,
    )
