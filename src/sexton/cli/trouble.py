"""How is it said that something went wrong?"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import click

from sexton.cli.streams import OutputLost
from sexton.cli.terminal import note
from sexton.errors import SextonError

USAGE, UNEXPECTED, OUTPUT_LOST, DECLINED = 2, 70, 74, 130
_REPORT = "This is a mistake in Sexton. Run it again with -v to see where, and report that."


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """An error as a program gets it."""

    error: str
    message: str
    hint: str
    exit_code: int


def tell_trouble(problem: Exception, arguments: Sequence[str]) -> int:
    """Write an error to standard error, for a person or with --json for a program; its code."""
    if isinstance(problem, click.Abort):  # a person said no, or left
        note("nothing was done")
        return DECLINED
    verbose = any(each in ("-v", "-vv", "--verbose") for each in arguments)
    trouble = _trouble(problem)
    if trouble.exit_code == UNEXPECTED and verbose:
        import traceback

        traceback.print_exception(problem, file=sys.stderr)
    if "--json" in arguments:
        sys.stderr.write(json.dumps(asdict(trouble)) + "\n")
        return trouble.exit_code
    for line in f"sexton: {trouble.message}".splitlines():
        note(line)
    if trouble.hint:
        note(f"hint: {trouble.hint}")
    return trouble.exit_code


def _trouble(problem: Exception) -> Trouble:
    match problem:
        case SextonError():
            return Trouble(
                error=type(problem).__name__,
                message=str(problem),
                hint=problem.hint,
                exit_code=problem.exit_code,
            )
        case click.ClickException():
            return _misuse(problem)
        case OutputLost():
            return Trouble(error="OutputLost", message=str(problem), hint="", exit_code=OUTPUT_LOST)
        case _:
            words = f"{type(problem).__name__}: {problem}"
            return Trouble(error="Unexpected", message=words, hint=_REPORT, exit_code=UNEXPECTED)


def _misuse(problem: click.ClickException) -> Trouble:
    context = getattr(problem, "ctx", None)
    command = context.command_path if context else "sexton"
    return Trouble(
        error="UsageError",
        message=problem.format_message(),
        hint=f"See '{command} --help'.",
        exit_code=USAGE,
    )
