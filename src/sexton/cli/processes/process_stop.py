"""`sexton processes stop`: end processes with all that they started."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event

import click

from sexton.cli.arguments import yes_option
from sexton.cli.cli_opening import existing
from sexton.cli.command import Command, shared
from sexton.cli.confirming import confirm
from sexton.cli.processes.process_choosing import meant, session_option
from sexton.cli.processes.process_view import show_stopped
from sexton.cli.signals import stopped_by_signals
from sexton.cli.terminal import document, note, say
from sexton.cli.trouble import DECLINED
from sexton.core.wording import counted
from sexton.errors import ProcessNotStopped
from sexton.keeper.apply import new_receipt
from sexton.operations.thing_records import stopped as stopped_shape
from sexton.processes.model import Process
from sexton.processes.process_ports import Ending, Stopped
from sexton.processes.stops import as_they_run, outcome, spared, stop_processes, would_stop
from sexton.wiring.reaching import everywhere


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
@click.option("--dry-run", is_flag=True, help="Only show what would be stopped.")
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
    options = shared(ctx)
    with existing(options) as opened:
        estate = everywhere(opened)
        named = meant(opened, estate, pid, session)
        found = [each for each in named if pid is not None or not each.kept]
        kept = [spared(each) for each in named if each not in found]
        if dry_run:
            would = would_stop(estate, as_they_run(estate, found), confirmed=not yes)
            _tell(None, _with(would, kept), as_json=options.json)
            return
        if found and not yes:
            found = _shown(found, as_they_run(estate, found))
            question = f"Stop {counted(len(found), 'process', 'processes')} and all they started?"
            confirm(question, ask=not options.json)
        receipt, stop = new_receipt(), Event()
        with stopped_by_signals(stop.set):
            stopped = stop_processes(
                estate, found, receipt, confirmed=not yes, given_up=stop.is_set
            )
        done = _with(stopped, kept)
    _tell(receipt, done, as_json=options.json)
    left = [each for each in done if not each.is_over]
    if left and stop.is_set():
        note(f"interrupted: {outcome(done)}; what is still there may run on")
        ctx.exit(DECLINED)
    if left:
        raise ProcessNotStopped(f"not stopped: {outcome(left)}")


def _with(done: Sequence[Stopped], kept: Sequence[Stopped]) -> list[Stopped]:
    """What came of all that was meant; who stands in the tree of another is told of there."""
    told = {each.pid for each in done}
    return [*done, *(each for each in kept if each.pid not in told)]


def _shown(registered: Sequence[Process], running: list[Process]) -> list[Process]:
    """Show what each runs now, and what it ran before if that was something else."""
    for before, now in zip(registered, running, strict=True):
        kept = " (kept from being stopped by policy)" if now.kept else ""
        say(f"{now.identity.pid or 'about to be started'}: {now.command}{kept}")
        if now.command != before.command:
            say(f"    registered as: {before.command}")
    return running


def _tell(receipt: str | None, done: Sequence[Stopped], *, as_json: bool) -> None:
    if as_json:
        document({"receipt": receipt, "processes": [stopped_shape(each) for each in done]})
        return
    if done:
        show_stopped(done)
    if receipt is None:
        many = sum(each.ending is Ending.FOUND for each in done)
        say(f"{counted(many, 'process', 'processes')} would be stopped")
    else:
        say(f"{outcome(done) or 'there is nothing to stop'} (receipt {receipt})")
