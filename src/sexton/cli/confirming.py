"""Does a person agree?"""

from __future__ import annotations

import sys

import click


def confirm(question: str, *, ask: bool = True) -> None:
    """Go on only if a person says yes; where nobody can be asked, --yes must have been given."""
    if not ask or not sys.stdin.isatty():
        why = "there is no terminal to ask on" if ask else "with --json nobody is asked"
        raise click.UsageError(f"{why}; add --yes to go on without asking")
    click.confirm(question, abort=True, err=True)
