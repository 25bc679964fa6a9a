"""`sexton sessions export`: write out the messages of a session."""

from __future__ import annotations

import sys
from collections import deque
from pathlib import Path

import click

from sexton.cli.arguments import force_file_option, session_argument
from sexton.cli.cli_files import private_file
from sexton.cli.cli_opening import chosen_url, existing, ledger_file
from sexton.cli.command import Command, shared
from sexton.cli.sessions.conversation import history
from sexton.cli.sessions.exporting import WRITERS, messages
from sexton.cli.terminal import document, note, progress
from sexton.core.session import NATIVE
from sexton.core.wording import counted
from sexton.errors import InputInvalid


@click.command(
    "export",
    cls=Command,
    examples=(
        "sexton sessions export 3f0c9a                    # JSON lines on standard output",
        "sexton sessions export 3f0c9a -o session.jsonl",
        "sexton sessions export 3f0c9a --format markdown | less",
    ),
)
@session_argument
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write to a file."
)
@click.option("--format", "form", type=click.Choice(list(WRITERS)), help="jsonl if not given.")
@click.option(
    "--history", "whole", is_flag=True, help="What was said before it was compressed, too."
)
@force_file_option
@click.pass_context
def command(
    ctx: click.Context,
    session: str,
    output: Path | None,
    form: str | None,
    *,
    whole: bool,
    force: bool,
) -> None:
    """Write out the messages of a session.

    jsonl: one message per line. json: one document with the session and its messages, which --json
    alone writes as well. Both are exact: reading them back gives what was stored, whatever it
    contained; where JSON could not keep it apart (two halves of a character stored as two),
    'exact_base64' holds the content and the extra fields as UTF-8 JSON with surrogates passed.
    markdown: for reading; characters that act on a terminal are replaced.

    With --history a conversation that was compressed is written from its first message on, as it
    was said: originals instead of summaries and copies; numbers begin anew with each session.

    Only sessions of our own have their messages in the ledger. A file is readable for its owner
    only, appears when it is complete, and replaces nothing unless forced. Needs a ledger that
    exists.
    """
    options = shared(ctx)
    to_terminal = output is None or str(output) == "-"
    form = form or ("json" if options.json and to_terminal else "jsonl")
    with existing(options) as opened:
        found = opened.find(session)
        if found.home != NATIVE:
            raise InputInvalid(
                f"the messages of {found.name} are not in the ledger",
                hint=f"They are in the home '{found.home}'; export them with its own agent.",
            )
        said = history(opened, found) if whole else messages(opened.ledger.messages, found.ref)
        if output is None or to_terminal:
            deque(WRITERS[form](sys.stdout, found, said), maxlen=0)
            return
        ledger = ledger_file(chosen_url(options))
        with (
            progress(f"exporting {found.name}") as advance,
            private_file(output, force=force, ledger=ledger) as file,
        ):
            count = 0
            for step in WRITERS[form](file, found, said):
                advance(step)
                count += step
    if options.json:
        document({"home": found.home, "session": found.id, "file": str(output), "messages": count})
    else:
        note(f"{counted(count, 'message')} written to {output}")
