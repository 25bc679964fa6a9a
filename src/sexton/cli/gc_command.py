"""`sexton gc`: put garbage into the trash."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from sexton.cli.arguments import (
    allow_observed_option,
    dry_run_option,
    force_file_option,
    home_option,
    limit_option,
    source_option,
    yes_option,
)
from sexton.cli.carrying_out import (
    carry_out,
    finish,
    keep_rest,
    line_of,
    say_receipt,
    tally_of,
    undo_command,
)
from sexton.cli.cli_files import private_file
from sexton.cli.cli_homes import estate_of
from sexton.cli.cli_opening import attaching, chosen_url, ledger_file
from sexton.cli.command import Command, Shared, shared
from sexton.cli.confirming import confirm
from sexton.cli.gc_view import files_of, question, show_garbage, totals
from sexton.cli.homes_here import homes_shape, note_homes
from sexton.cli.terminal import document, note, say, write
from sexton.core.plan import Plan, Result
from sexton.core.session import NATIVE
from sexton.core.wording import number
from sexton.errors import HomeObserved
from sexton.keeper.plan_file import write_plan
from sexton.operations.asker import Asker
from sexton.operations.changes.clearing import gc
from sexton.operations.verb_proposal import Receipt
from sexton.retention.policy import days
from sexton.wiring import Sexton

MOST_TOLD = 50
_NUMBER = click.IntRange(0, 1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wish:
    """What is to become of the plan."""

    dry_run: bool
    yes: bool
    allow_observed: bool
    limit: int
    output: Path | None
    force: bool


@click.command(
    "gc",
    cls=Command,
    examples=(
        "sexton gc --dry-run                          # what is garbage, and why",
        "sexton gc                                    # the same, then ask, then remove it",
        "sexton gc --source cron --trivial-days 2 --yes",
        "sexton undo RECEIPT                          # have it all back",
    ),
)
@click.option("--empty-hours", type=_NUMBER, metavar="N", help="Empty for so long: garbage.")
@click.option("--trivial-days", type=_NUMBER, metavar="N", help="Trivial for so long: garbage.")
@click.option("--trivial-max", type=_NUMBER, metavar="N", help="So many messages are trivial.")
@home_option
@source_option
@dry_run_option
@yes_option
@allow_observed_option
@limit_option
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write the plan there."
)
@force_file_option
@click.pass_context
def command(ctx: click.Context, /, home: str | None, source: str | None, **given: Any) -> None:
    """Put garbage into the trash: empty and trivial sessions.

    Garbage is a session that has ended and in which nothing was said for 24 hours, or at most five
    messages and nothing for 7 days; 'gc' in the settings says otherwise. A conversation that was
    compressed counts as one. Open, pinned and unfinalized sessions stay, and so does a session
    with an open child; a substantial child never goes with its parent.

    Shows what would go, by source, and why, then asks. What goes can be had back with 'sexton
    undo' until 'trash.grace' is over; the session's row stays for good. Ctrl-C stops after the
    current step and writes down what is left for 'sexton apply'. Agents that write meanwhile hardly
    notice, also those in whose own home this is done.
    """
    options = shared(ctx)
    said = {name: given.pop(name) for name in ("empty_hours", "trivial_days", "trivial_max")}
    wish = _Wish(**given)
    with attaching(options) as opened:
        estate, name = estate_of(opened, home)
        asker = Asker(house=opened)
        proposal = gc(asker, home=name, source=source, estate=lambda: estate, **said)
        plan = proposal.plan
        assert plan is not None
        assert estate.removing is not None
        files = files_of(estate.removing, plan)
        if not options.json or wish.dry_run:
            note_homes(opened, estate, name or NATIVE)
        if _only_shown(options, opened, plan, wish, files):
            return
        if plan.would_do() and wish.yes and not wish.allow_observed:
            raise HomeObserved(
                f"the home '{name}' is only observed",
                hint="Add --allow-observed to change it, or set 'act: true' in its settings.",
            )
        if plan.actions and not wish.yes:
            confirm(_question(plan, files), ask=not options.json)
        receipt = carry_out(
            proposal, observed=True, begin=(lambda _: None) if options.json else say_receipt
        )
        rest = keep_rest(ctx, opened, receipt.rest, f"gc-{receipt.id}")
        if options.json:
            more = {"rest": None if rest is None else str(rest), "sources": totals(plan, files)}
            document({**receipt.shown, **more, **homes_shape(opened, estate, plan.homes[0])})
        else:
            _tell(opened, receipt)
    finish(ctx, receipt, rest)


def _question(plan: Plan, files: Mapping[str, int]) -> str:
    """What a person is asked; whoever says yes allows to change a home that is only observed."""
    observed = f"The home '{plan.actions[0].seen.home}' is only observed. "
    return (observed if plan.would_do() else "") + question(plan, files)


def _only_shown(
    options: Shared, opened: Sexton, plan: Plan, wish: _Wish, files: Mapping[str, int]
) -> bool:
    """Show or write the plan; whether that is all there is to do."""
    if wish.output is not None:
        ledger = ledger_file(chosen_url(options))
        with private_file(wish.output, force=wish.force, ledger=ledger) as file:
            file.write(write_plan(plan, opened.ledger.plan_key()))
        note(f"{question(plan, files)[:-1]}: written to {wish.output}")
        return True
    if wish.dry_run and options.json:
        write(write_plan(plan, opened.ledger.plan_key()))
        return True
    if not options.json:
        show_garbage(plan, wish.limit, files)
    return wish.dry_run or not (plan.actions or options.json)


def _tell(opened: Sexton, receipt: Receipt) -> None:
    left_alone = [each for each in receipt.outcomes if each["result"] != Result.DONE]
    for outcome in left_alone[:MOST_TOLD]:
        note(line_of(outcome))
    if len(left_alone) > MOST_TOLD:
        note(f"and {number(len(left_alone) - MOST_TOLD)} more like these")
    grace = days(opened.settings.trash.grace)
    undo = f"; for {grace} '{undo_command(receipt)}' brings it back"
    done = receipt.shown["done"]
    say(tally_of(receipt.outcomes) + (undo if done else ""))
