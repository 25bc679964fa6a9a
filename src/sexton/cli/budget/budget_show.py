"""`sexton budget show`: how do budgets stand?"""

from __future__ import annotations

from collections.abc import Sequence

import click

from sexton.cli.budget.budget_choosing import (
    note_unknown,
    session_or_none,
    source_option,
    tree_option,
)
from sexton.cli.cli_opening import existing
from sexton.cli.command import Command, shared
from sexton.cli.terminal import Column, document, note, table
from sexton.operations.asker import Asker
from sexton.operations.questions.budget_questions import budgets
from sexton.spending.budgets import shown
from sexton.spending.model import Budget

_COLUMNS = (Column("BUDGET"), Column("NOW"), Column("HOW IT STANDS", cut=True))


@click.command(
    "show",
    cls=Command,
    examples=(
        "sexton budget show",
        "sexton budget show 3f0c9a --json",
        "sexton budget show --source cron",
    ),
)
@session_or_none
@source_option
@tree_option
@click.pass_context
def command(ctx: click.Context, session: str | None, source: str | None, tree: bool) -> None:
    """Show how budgets stand.

    Of a session all that bound it, of its tree or a source what is counted there, and without
    either the budgets of the day. Budgets of single turns are counted by the agent itself.
    """
    options = shared(ctx)
    if session is not None and source is not None:
        raise click.UsageError("name a session or a source, not both", ctx)
    if tree and session is None:
        raise click.UsageError("name a session: --tree is the tree of one", ctx)
    with existing(options) as opened:
        note_unknown(opened, source)
        found = budgets(Asker(house=opened), session=session, source=source, tree=tree)
        rules = opened.rules(None).rules.spend.budgets
    if options.json:
        document(found)
    elif found["items"]:
        rows = ((each["budget"], each["state"], each["words"]) for each in found["items"])
        table(_COLUMNS, rows)
    else:
        note(_nothing(rules))


def _nothing(rules: Sequence[Budget]) -> str:
    """That nothing is counted in one place for all, and what bounds each."""
    each = ", ".join(
        f"{budget.name} ({shown(budget.unit, budget.limit)}, then {budget.action})"
        for budget in rules
    )
    return (
        f"no budget is counted there; in force are {each or 'none'}. "
        "Name a session, or a source with --source, to see how one stands"
    )
