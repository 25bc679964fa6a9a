"""`sexton budget`: what can be asked about budgets, and allowed?"""

from __future__ import annotations

import click

from sexton.cli.command import Group, Late


@click.group(
    "budget",
    cls=Group,
    late={
        "show": Late("sexton.cli.budget.budget_show", "Show how budgets stand."),
        "set": Late(
            "sexton.cli.budget.budget_set", "Give one session, tree or source a limit of its own."
        ),
        "clear": Late(
            "sexton.cli.budget.budget_clear",
            "Take a limit away that was given to one session, its tree or a source.",
        ),
        "raise": Late("sexton.cli.budget.budget_raise", "Allow more than a limit."),
    },
    examples=(
        "sexton budget show                          # the budgets of the day",
        "sexton budget show 3f0c9a                   # everything that bounds a session",
        "sexton budget raise 3f0c9a --tokens 50000   # go on, with so much more",
    ),
)
def command() -> None:
    """Show, set, clear and raise what may be spent."""
