"""`sexton report`: what has changed over time?"""

from __future__ import annotations

import click

from sexton.cli.command import Group, Late


@click.group(
    "report",
    cls=Group,
    late={
        "leaks": Late(
            "sexton.cli.report.report_leaks", "Show how many sessions leaked, before and after."
        )
    },
    examples=("sexton report leaks --since 30d -o leaks.svg",),
)
def command() -> None:
    """Show what has changed over time."""
