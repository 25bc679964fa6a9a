"""`sexton processes stop`: end processes with all that they started."""

from __future__ import annotations

import click

from sexton.cli.arguments import dry_run_option, session_option, yes_option
from sexton.cli.carrying_out import act
from sexton.cli.command import Command
from sexton.operations.changes.process_changes import stop_process


@click.command(
    "stop",
    cls=Command,
    examples=(
        "sexton processes stop 4711 --dry-run",
        "sexton processes stop 4711",
        "sexton processes stop --session 3f0c9a --yes",
    ),
)
@click.argument("pid", type=click.IntRange(min=1), required=False)
@session_option
@dry_run_option
@yes_option
@click.pass_context
def command(
    ctx: click.Context, pid: int | None, session: str | None, dry_run: bool, yes: bool
) -> None:
    """Stop processes with all that they started.

    Each is asked to end and killed after the grace of the policies. Only processes of this user
    on this machine are signalled that are registered to or tagged with a session, or that the
    home of another agent names and that started when it says. Who is asked is shown what each
    runs now; one that runs something else by the time of the yes is left alone. A yes is also
    enough for one of which nothing but its pid and start time is known; --yes is not. One that was
    kept, with what it started, is stopped only if its own PID is named. Ctrl-C ends the waiting:
    it is told who has ended and who was signalled only.
    """
    act(
        ctx,
        lambda asker: stop_process(asker, pid=pid, session=session),
        ask=not yes,
        dry_run=dry_run,
    )
