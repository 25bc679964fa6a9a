"""`sexton budget show`: how do budgets stand?"""

from __future__ import annotations

from collections.abc import Sequence

import click

from sexton.cli.budget.budget_choosing import (
    check_tree,
    note_unknown,
    session_or_none,
    source_option,
    tree_option,
)
from sexton.cli.cli_opening import existing
from sexton.cli.command import Command, shared
from sexton.cli.terminal import Column, array, note, table
from sexton.operations.thing_records import budget as shape
from sexton.operations.verbs import newest
from sexton.spending.budget_standing import NOWHERE, explained, standings, unpriced, who
from sexton.spending.budgets import action_of, shown
from sexton.spending.model import Budget, Scope, Who

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
        note_unknown(opened, source)
        asked = None if session is None else newest(opened.ledger, opened.find(session))
        spender = who(estate, asked) if asked else Who(NOWHERE, NOWHERE, source or "")
        rules = estate.rules(None).rules.spend.budgets
        found = [
            each
            for each in standings(estate, spender)
            if (not tree or each.bound.meter.scope is Scope.TREE)
            and (session or source or each.bound.meter.scope is Scope.DAY)
        ]
        blind = unpriced(estate, asked)
    ended = asked.end_reason if asked else None
    told = [
        (each, budget, _word(budget, word, ended, spender.source), words)
        for each in found
        for budget, word, words in explained(each, spender.source, blind)
    ]
    if options.json:
        array(shape(each, budget, word) for each, budget, word, _ in told)
    elif told:
        table(_COLUMNS, ((budget.name, word, words) for _, budget, word, words in told))
    else:
        note(_nothing(rules))


def _word(budget: Budget, word: str, ended: str | None, source: str) -> str:
    """What a budget does now, or did: it may end a session before all is spent."""
    return action_of(budget, source).value if ended == f"budget:{budget.name}" else word


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
