"""`sexton sessions`: what can be done with sessions?"""

from __future__ import annotations

import click

from sexton.cli.command import Group, Late

_HERE = "sexton.cli.sessions"


@click.group(
    "sessions",
    cls=Group,
    late={
        "list": Late(_HERE, "List sessions, newest activity first."),
        "show": Late(_HERE, "Show everything the ledger knows about a session."),
        "end": Late(_HERE, "End a session."),
        "reset": Late(_HERE, "End a session so that its key begins anew."),
        "pin": Late(_HERE, "Keep a session from being reset or collected."),
        "export": Late(_HERE, "Write out the messages of a session."),
    },
    examples=(
        "sexton sessions list --state open",
        "sexton sessions show SESSION",
        "sexton sessions export SESSION -o session.jsonl",
    ),
)
def command() -> None:
    """List, show, end, reset, pin and export sessions.

    A session is named by its id, or as HOME/ID where several homes have the same id.
    """
