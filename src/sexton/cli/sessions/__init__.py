"""`sexton sessions`: what can be done with sessions?"""

from __future__ import annotations

import click

from sexton.cli.command import Group, Late


@click.group(
    "sessions",
    cls=Group,
    late={
        "list": Late("sexton.cli.sessions.session_list", "List sessions, newest activity first."),
        "show": Late(
            "sexton.cli.sessions.session_show", "Show everything the ledger knows about a session."
        ),
        "end": Late("sexton.cli.sessions.session_end", "End a session."),
        "reset": Late(
            "sexton.cli.sessions.session_reset", "End a session so that its key begins anew."
        ),
        "pin": Late(
            "sexton.cli.sessions.session_pin", "Keep a session from being reset or collected."
        ),
        "unpin": Late(
            "sexton.cli.sessions.session_unpin", "Let rules reset and collect a session again."
        ),
        "export": Late(
            "sexton.cli.sessions.session_export", "Write out the messages of a session."
        ),
    },
    examples=(
        "sexton sessions list --state open",
        "sexton sessions show SESSION",
        "sexton sessions export SESSION -o session.jsonl",
    ),
)
def command() -> None:
    """List, show, end, reset, pin, unpin and export sessions.

    A session is named by its id, or as HOME/ID where several homes have the same id.
    """
