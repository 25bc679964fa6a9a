"""`sexton plan`: what should be done now, and why?"""

from __future__ import annotations

from pathlib import Path

import click

from sexton.cli.arguments import (
    force_file_option,
    home_option,
    remove_all_option,
    source_option,
)
from sexton.cli.cli_files import private_file
from sexton.cli.cli_homes import estate_of, observe_all
from sexton.cli.cli_opening import attaching, chosen_settings, chosen_url, ledger_file
from sexton.cli.command import Command, shared
from sexton.cli.homes_here import note_homes
from sexton.cli.keeper_notice import note_keeper
from sexton.cli.plan_view import show_plan, summary
from sexton.cli.terminal import note, write
from sexton.keeper.plan_file import write_plan
from sexton.operations.asker import Asker
from sexton.operations.changes.applying import due
from sexton.operations.outlook import outlook


@click.command(
    "plan",
    cls=Command,
    examples=(
        "sexton plan                          # what is due, in all homes",
        "sexton plan --home ~/.hermes         # in one home, listed in the settings or not",
        "sexton plan -o plan.json             # keep it, look at it, then:",
        "sexton apply plan.json",
    ),
)
@home_option
@source_option
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write it to a file."
)
@force_file_option
@remove_all_option
@click.pass_context
def command(
    ctx: click.Context,
    home: str | None,
    source: str | None,
    output: Path | None,
    force: bool,
    allow_remove_all: bool,
) -> None:
    """Show what should be done now, and why.

    Actions in homes that are only observed are listed apart: nobody does them unless a person
    allows it ('sexton apply --allow-observed'). Also says which end-of-session jobs would start,
    and what they may cost.

    Observes the homes and asks the policies about every session whose time has come. Nothing is
    changed; a settings file that is not in force yet is planned with, and stays without force until
    'sexton apply' or 'sexton keep'. With --json or --output the plan is written in the form that
    'sexton apply' takes; it holds good for this ledger only, and an edited one is refused.
    """
    options = shared(ctx)
    settings = chosen_settings(options)
    with attaching(options) as opened:
        estate, name = estate_of(opened, home)
        blind = observe_all(estate, strict=home is not None)
        rules = settings.rulebook if settings else None
        asker = Asker(house=opened)
        plan = due(
            asker, name, source,
            allow_remove_all=allow_remove_all, rules=rules, estate=estate, tell=note,
        )[0]  # fmt: skip
        if output is not None and str(output) != "-":
            ledger = ledger_file(chosen_url(options))
            with private_file(output, force=force, ledger=ledger) as file:
                file.write(write_plan(plan, opened.ledger.plan_key()))
            note(f"{summary(plan)}; written to {output}")
        elif output is not None or options.json:
            write(write_plan(plan, opened.ledger.plan_key()))
        else:
            show_plan(plan, outlook(opened, plan, rules))
        note_homes(opened, estate, name, blind)
        note_keeper(opened.ledger, opened.clock)
