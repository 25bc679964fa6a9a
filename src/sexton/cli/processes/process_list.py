"""`sexton processes list`: what runs for which session, and what does it do?"""

from __future__ import annotations

import click

from sexton.cli.arguments import named
from sexton.cli.cli_opening import existing
from sexton.cli.command import Command, shared
from sexton.cli.keeper_notice import note_keeper
from sexton.cli.processes.process_choosing import of_session, session_option
from sexton.cli.processes.process_view import show
from sexton.cli.terminal import array, note
from sexton.keeper.keeper_context import Estate
from sexton.operations.thing_records import process as shape
from sexton.processes.listed import view
from sexton.processes.model import Process
from sexton.wiring import Sexton
from sexton.wiring.reaching import everywhere

CHUNK = 500


@click.command(
    "list",
    cls=Command,
    examples=(
        "sexton processes list",
        "sexton processes list --session 3f0c9a",
        "sexton processes list --json | jq '.[] | select(.holds_reset)'",
    ),
)
@session_option
@click.option("--task", callback=named("task"), metavar="TASK", help="Only of this task.")
@click.option("--all", "everything", is_flag=True, help="Also those that ended in the last week.")
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
        estate = everywhere(opened)
        found = _wanted(opened, estate, session, everything=everything)
        chosen = [each for each in found if task in (None, each.task)]
        watched = view(estate, chosen)
        if options.json:
            array(map(shape, watched))
        elif watched:
            show(watched, opened.clock.now())
        else:
            note("no such process is registered")
        note_keeper(opened.ledger, opened.clock)


def _wanted(
    opened: Sexton, estate: Estate, session: str | None, *, everything: bool
) -> list[Process]:
    registry = opened.ledger.registry
    if not everything and session is not None:
        return of_session(opened, estate, session)
    registered = _all(opened) if everything else registry.running()
    known = [*registered, *estate.named(registry.running())]
    found = None if session is None else opened.find(session)
    return [
        each
        for each in known
        if found is None or (each.home, each.session) == (found.home, found.id)
    ]


def _all(opened: Sexton) -> list[Process]:
    found: list[Process] = []
    before: int | None = None
    while page := opened.ledger.registry.page(before, CHUNK):
        found += page
        before = page[-1].ref
    return found[::-1]
