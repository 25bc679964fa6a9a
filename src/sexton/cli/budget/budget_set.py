"""`sexton budget set`: give one session, tree or source a limit of its own."""

from __future__ import annotations

import click

from sexton.cli.budget.budget_choosing import (
    check_tree,
    meter,
    one_unit,
    session_or_none,
    source_option,
    spender,
    tree_option,
    unit_options,
)
from sexton.cli.cli_opening import reaching
from sexton.cli.command import Command, shared
from sexton.cli.terminal import document, say
from sexton.spending.budget_standing import own_limits, set_limit
from sexton.spending.budgets import shown
from sexton.spending.model import Act, Unit


@click.command(
    "set",
    cls=Command,
    examples=(
        "sexton budget set 3f0c9a --tokens 100000 --action kill",
        "sexton budget set 3f0c9a --tree --usd 5",
        "sexton budget set --source cron --usd 20",
        "sexton budget set 3f0c9a --off   # what the settings say again",
    ),
)
@session_or_none
@source_option
@tree_option
@unit_options
@click.option(
    "--action",
    type=click.Choice([each.value for each in Act]),
    default=Act.PAUSE.value,
    show_default=True,
    help="What happens at the limit.",
)
@click.option(
    "--off", is_flag=True, help="Take the limit away, or without an amount every one set there."
)
@click.pass_context
def command(
    ctx: click.Context,
    /,
    session: str | None,
    source: str | None,
    tree: bool,
    action: str,
    off: bool,
    **given: int | None,
) -> None:
    """Give one session, tree or source a limit of its own.

    It takes the place of what the settings say there, also below what is spent already: then
    nothing more is spent. An agent that runs learns of it from its next call.
    """
    options = shared(ctx)
    everything = off and not any(given.values())
    unit, amount = (Unit.TOKENS, 0) if everything else one_unit(ctx, given)
    check_tree(ctx, session, tree)
    with reaching(options) as opened:
        found, named = spender(ctx, opened, session, source)
        place, estate = meter(named, unit, tree=tree), opened.estate()
        gone = own_limits(estate, named, place) if everything else [place]
        for each in gone:
            set_limit(estate, each, None if off else (amount, Act(action)), found)
    whose = named.source if found is None else found.id
    if options.json:
        document(
            {
                "scope": place.scope,
                "subject": whose,
                "unit": None if everything else unit,
                "limit": None if off else amount,
                "action": None if off else action,
            }
        )
    elif off:
        say(f"{place.scope} {whose}: what the settings say")
    else:
        say(f"{place.scope} {whose}: {shown(unit, amount)} at most, then {action}")
