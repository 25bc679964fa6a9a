"""`sexton budget show`: how do budgets stand?"""

from __future__ import annotations

import click

from sexton.cli.budget.choosing import check_tree, session_or_none, source_option, tree_option
from sexton.cli.command import Command, shared
from sexton.cli.opening import existing
from sexton.cli.sessions.ending import native
from sexton.cli.terminal import Column, array, note, table
from sexton.engine.budgets import NOWHERE, explained, standings, who
from sexton.model.spend import Scope, Who
from sexton.shapes.things import budget as shape

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
    check_tree(ctx, session, tree)
    if session is not None and source is not None:
        raise click.UsageError("name a session or a source, not both", ctx)
    with existing(options) as opened:
        estate = opened.estate()
        named = Who(NOWHERE, NOWHERE, source or "")
        spender = named if session is None else who(estate, native(opened, session))
        found = [
            each
            for each in standings(estate, spender)
            if (not tree or each.bound.meter.scope is Scope.TREE)
            and (session or source or each.bound.meter.scope is Scope.DAY)
        ]
    told = [(each, *words) for each in found for words in explained(each, spender.source)]
    if options.json:
        array(shape(each, budget, word) for each, budget, word, _ in told)
    elif told:
        table(_COLUMNS, ((budget.name, word, words) for _, budget, word, words in told))
    else:
        note("no budget is counted there")
