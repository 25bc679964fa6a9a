"""`sexton why`: why is a session as it is?"""

from __future__ import annotations

import click

from sexton.cli.arguments import session_argument
from sexton.cli.cli_homes import reaching
from sexton.cli.cli_opening import existing
from sexton.cli.command import Command, shared
from sexton.cli.journal_view import show_entries
from sexton.cli.terminal import Column, document, heading, say, table
from sexton.keeper.explain import Explanation, explain
from sexton.operations import values as shapes

_COLUMNS = (Column("QUESTION"), Column("ANSWER"), Column("BECAUSE", cut=True))


@click.command(
    "why",
    cls=Command,
    examples=(
        "sexton why 3f0c9a                    # a session by its id",
        "sexton why hermes/20261102_101500    # a session of another home",
        "sexton why 3f0c9a --json",
    ),
)
@session_argument
@click.pass_context
def command(ctx: click.Context, session: str) -> None:
    """Say why a session is as it is, and what would change it.

    Runs the policies a keeper runs, on this one session, and shows every answer, also those that
    keep it as it is; then what the journal says of it. Changes nothing, and needs a ledger that
    exists.
    """
    options = shared(ctx)
    with existing(options) as opened:
        found = opened.find(session)
        explanation = explain(reaching(opened, {found.home}), found)
    if options.json:
        document(shapes.explanation(explanation))
    else:
        _show(explanation)


def _show(explanation: Explanation) -> None:
    session = explanation.session
    about = session.title or session.preview
    heading(f"{session.name}: {about}" if about else session.name)
    say()
    table(_COLUMNS, ((each.question, each.answer, each.detail) for each in explanation.answers))
    if explanation.journal:
        say()
        show_entries(explanation.journal, with_session=False)
