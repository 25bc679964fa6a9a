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
from sexton.cli.cli_files import private_file
from sexton.cli.cli_homes import estate_of, mend, observe_all
from sexton.cli.cli_opening import attaching, chosen_url, ledger_file
from sexton.cli.cli_stopping import (
    carry_out,
    keep_rest,
    report,
    rest_of,
    stoppable,
    stopped_with,
)
from sexton.cli.command import Command, Shared, shared
from sexton.cli.confirming import confirm
from sexton.cli.gc_view import files_of, question, show_garbage, totals
from sexton.cli.homes_here import homes_shape, note_homes
from sexton.cli.plan_view import tallied
from sexton.cli.terminal import document, note, say, write
from sexton.cli.trouble import DECLINED
from sexton.core.plan import Outcome, Plan, Result
from sexton.core.session import NATIVE
from sexton.core.wording import number
from sexton.errors import HomeObserved
from sexton.keeper.apply import new_receipt
from sexton.keeper.keeper_context import Estate
from sexton.keeper.plan_file import write_plan
from sexton.retention.collect import collect
from sexton.retention.policy import days
from sexton.wiring import Sexton
from sexton.wiring.removal_wiring import garbage

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
        if name not in (None, NATIVE):
            observe_all(estate, strict=True)
        chosen = {key: value for key, value in said.items() if value is not None}
        policy = garbage(opened, chosen | {"source": source})
        plan = collect(estate, name or NATIVE, policy)
        assert estate.removing is not None
        files = files_of(estate.removing, plan)
        if not options.json or wish.dry_run:
            note_homes(opened, estate, name or NATIVE)
        if _only_shown(options, opened, plan, wish, files):
            return
        if not estate.removing.keeps_records(name or NATIVE):
            raise HomeObserved(f"the sessions of the home '{name}' can not be removed from here")
        if plan.would_do() and wish.yes and not wish.allow_observed:
            raise HomeObserved(
                f"the home '{name}' is only observed",
                hint="Add --allow-observed to change it, or set 'act: true' in its settings.",
            )
        if plan.actions and not wish.yes:
            confirm(_question(plan, files), ask=not options.json)
        _apply(ctx, opened, estate, plan, files)


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


def _apply(
    ctx: click.Context, opened: Sexton, estate: Estate, plan: Plan, files: Mapping[str, int]
) -> None:
    options, receipt = shared(ctx), new_receipt()
    mend(opened, receipt)
    if not options.json:
        say(f"receipt {receipt}")
    with stoppable(estate) as (stopping, stop):
        outcomes = carry_out(stopping, plan, receipt, "removing", observed=True)
    rest: Path | None = None
    if stop.is_set() and len(outcomes) < len(plan.actions):
        text = rest_of(plan, len(outcomes), opened.ledger)
        rest = keep_rest(text, f"gc-{receipt}", ledger_file(chosen_url(options)))
    if options.json:
        homes = homes_shape(opened, estate, plan.homes[0])
        document(report(plan, receipt, outcomes, rest) | homes | {"sources": totals(plan, files)})
    else:
        _tell(opened, plan, outcomes, receipt, rest)
    if len(outcomes) < len(plan.actions):
        ctx.exit(DECLINED)


def _tell(
    opened: Sexton, plan: Plan, outcomes: list[Outcome], receipt: str, rest: Path | None
) -> None:
    left_alone = [each for each in outcomes if each.result is not Result.DONE]
    for outcome in left_alone[:MOST_TOLD]:
        note(f"{outcome.result}: {outcome.action.seen.id}: {outcome.detail}")
    if len(left_alone) > MOST_TOLD:
        note(f"and {number(len(left_alone) - MOST_TOLD)} more like these")
    grace = days(opened.settings.trash.grace)
    undo = f"; for {grace} 'sexton undo {receipt}' brings it back"
    say(tallied(outcomes) + (undo if len(outcomes) > len(left_alone) else ""))
    if len(outcomes) < len(plan.actions):
        note(stopped_with(len(plan.actions) - len(outcomes), rest))
