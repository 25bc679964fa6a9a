"""`sexton processes list`: what runs for which session, and what does it do?"""

from __future__ import annotations

import click

from sexton.cli.arguments import named, session_option
from sexton.cli.cli_opening import existing
from sexton.cli.command import Command, shared
from sexton.cli.keeper_notice import note_keeper
from sexton.cli.paging import Pages, by_ref, tell_pages
from sexton.cli.processes.process_view import show
from sexton.operations.asker import Asker
from sexton.operations.questions.process_questions import processes

ALL = 1_000_000_000


@click.command(
    "list",
    cls=Command,
    examples=(
        "sexton processes list",
        "sexton processes list --session 3f0c9a",
        "sexton processes list --json | jq '.items[] | select(.holds_reset)'",
    ),
)
@session_option
@click.option("--task", callback=named("task"), metavar="TASK", help="Only of this task.")
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Also those that ended in the last week, newest first.",
)
@click.pass_context
def command(ctx: click.Context, session: str | None, task: str | None, everything: bool) -> None:
    """List the background processes of sessions and what they do.

    The same list the reset guard uses: a process holds a reset back only while it is working and
    within its time. What it does is what the keeper of its machine saw within the last minute, or
    what is seen now in half a second. What the file of another agent's home says of its processes
    is listed too, as 'hint': it is judged like the others, and no policy stops it. Changes nothing,
    and needs a ledger that exists.
    """
    options = shared(ctx)
    with existing(options) as opened:
        asker, now = Asker(house=opened), opened.clock.now()
        found = Pages(
            lambda rest, most: processes(
                asker, session=session, task=task, ended=everything, after=by_ref(rest), limit=most
            ),
            ALL,
        )
        tell_pages(
            found,
            lambda shown: show(shown, now),
            "no such process is registered",
            as_json=options.json,
        )
        note_keeper(opened.ledger, opened.clock)
