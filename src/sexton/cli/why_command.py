"""`sexton why`: why is a session as it is?"""

from __future__ import annotations

import click

from sexton.cli.arguments import session_argument
from sexton.cli.cli_opening import existing
from sexton.cli.command import Command, shared
from sexton.cli.journal_view import show_entries
from sexton.cli.terminal import Column, document, heading, say, table
from sexton.core.session import NATIVE
from sexton.operations.asker import Asker
from sexton.operations.questions.session_questions import why
from sexton.operations.said import Explanation

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
        explanation = why(Asker(house=opened), session)
    if options.json:
        document(explanation)
    else:
        _show(explanation)


def _show(explanation: Explanation) -> None:
    session = explanation["session"]
    name = session["id"] if session["home"] == NATIVE else f"{session['home']}/{session['id']}"
    about = session["title"] or session["preview"]
    heading(f"{name}: {about}" if about else name)
    say()
    answers = explanation["answers"]
    table(_COLUMNS, ((each["question"], each["answer"], each["detail"]) for each in answers))
    if explanation["journal"]:
        say()
        show_entries(explanation["journal"], with_session=False)
