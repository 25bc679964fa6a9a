"""`sexton demo`: what would this do for me?"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sexton.cli.command import Command, shared
from sexton.cli.terminal import document, heading, say

if TYPE_CHECKING:
    from sexton.cli.demo.acts import Act, Course

PROMPT = "\nEnter goes on, q ends: "


@click.command(
    "demo",
    cls=Command,
    examples=(
        "sexton demo                          # half a minute; nothing of yours is touched",
        "sexton demo --keep /tmp/damaged      # and leave the home there to try things on",
    ),
)
@click.option(
    "--keep",
    "keep_in",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Make it in this new directory, and leave it there.",
)
@click.pass_context
def command(ctx: click.Context, keep_in: Path | None) -> None:
    """Show on a throw-away Hermes home what can be done for a real one.

    Writes a home with the damage that people reported: 3 049 sessions of which 887 were left open,
    two thirds of them trivial, 728 files of 94 MB, and two preview servers that really run and hold
    a reset back. Then it is examined, a plan is made and carried out, it is examined again, and
    everything is undone. On a terminal it waits for you between the acts. Home, ledger and servers
    are gone afterwards.
    """
    from sexton.cli.demo.acts import ACTS, Course
    from sexton.cli.demo.stage import staged

    quiet = shared(ctx).json
    with _ended_in_order(), staged(keep_in) as stage:
        course = Course(stage=stage, quiet=quiet)
        if not quiet:
            say(f"a damaged home was written to {stage.setting.path}")
        told: dict[str, Any] = {}
        for act in ACTS:
            if told and not quiet and not _goes_on():
                break
            told[act.name] = _performed(act, course)
    if quiet:
        document(told)
    else:
        say("everything is gone again" if keep_in is None else f"it stays in {keep_in}")


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Who is told to end cleans up first."""

    def end(number: int, frame: object) -> None:
        del frame
        sys.exit(128 + number)

    former = {each: signal.signal(each, end) for each in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for each, handler in former.items():
            signal.signal(each, handler)


def _performed(act: Act, course: Course) -> dict[str, Any]:
    if not course.quiet:
        say()
        heading(f"$ {act.command}")
        say(act.words)
        say()
    return act.perform(course)


def _goes_on() -> bool:
    """Whether the person at the terminal wants more; where there is none, always."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return True
    sys.stdout.write(PROMPT)
    sys.stdout.flush()
    answer = sys.stdin.readline()
    return bool(answer) and not answer.strip().lower().startswith("q")
