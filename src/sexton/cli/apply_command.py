"""`sexton apply`: carry out a plan."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from sexton.cli.arguments import (
    allow_observed_option,
    dry_run_option,
    home_option,
    remove_all_option,
    source_option,
    yes_option,
)
from sexton.cli.cli_homes import estate_of, mend, observe_all, reaching
from sexton.cli.cli_opening import attaching, chosen_settings, chosen_url, ledger_file
from sexton.cli.cli_stopping import (
    carry_out,
    keep_rest,
    report,
    rest_of,
    stoppable,
    stopped_with,
    undo_command,
)
from sexton.cli.command import Command, shared
from sexton.cli.confirming import confirm
from sexton.cli.homes_here import homes_shape, note_homes
from sexton.cli.plan_view import question, say_outcome, show_plan, tallied
from sexton.cli.terminal import document, note, say, write
from sexton.cli.trouble import DECLINED
from sexton.core.plan import Outcome, Plan, Result
from sexton.core.record import replace
from sexton.errors import PlanInvalid
from sexton.keeper.apply import new_receipt
from sexton.keeper.keeper_context import Estate
from sexton.keeper.narrowing import of_source
from sexton.keeper.plan_file import read_plan, write_plan
from sexton.keeper.propose import survey
from sexton.operations.outlook import outlook
from sexton.retention.proposal import with_retention
from sexton.wiring import Sexton

MOST_BYTES = 1_000_000_000


@click.command(
    "apply",
    cls=Command,
    examples=(
        "sexton apply                         # plan, show, ask, then do it",
        "sexton apply plan.json               # do what was planned, as far as it still holds",
        "sexton apply --yes --json            # for programs: no question, one JSON document",
        "sexton apply --dry-run plan.json     # check the file and show it",
    ),
)
@click.argument("plan_file", metavar="[PLAN.json]", required=False, type=click.Path(path_type=Path))
@home_option
@source_option
@yes_option
@dry_run_option
@remove_all_option
@allow_observed_option
@click.pass_context
def command(
    ctx: click.Context,
    plan_file: Path | None,
    home: str | None,
    source: str | None,
    yes: bool,
    dry_run: bool,
    allow_remove_all: bool,
    allow_observed: bool,
) -> None:
    """Carry out a plan.

    Without a file it makes a plan, shows it and asks. With a file, or '-' for standard input, it
    carries out what 'sexton plan' wrote. Every action checks once more that its session still is
    as it was seen: what has moved on is skipped, so an old plan does no harm. Actions in homes that
    are only observed are left out, unless --allow-observed is given or a person says yes to that
    question. The receipt names the whole in the journal; 'sexton undo' takes it. Ctrl-C stops after
    the current step and writes down what is left. Once confirmed, a given settings file is put in
    force first.
    """
    options = shared(ctx)
    text = None if plan_file is None else _text(plan_file)
    settings = chosen_settings(options)
    with attaching(options) as opened:
        ledger = opened.ledger
        given = None if text is None else read_plan(text, ledger.id, ledger.plan_key())
        estate, name = estate_of(opened, home)
        blind: frozenset[str] = frozenset()
        if given is not None:
            if home is None:  # what was planned for one that was only named goes on there
                estate = reaching(opened, {action.seen.home for action in given.actions})
        else:
            blind = observe_all(estate, strict=home is not None)
        rules = settings.rulebook if settings else None
        plan = given or with_retention(
            estate,
            survey(estate, name, rules).plan,
            name,
            rules,
            allow_remove_all=allow_remove_all,
            tell=note,
        )
        observed_now = tuple(sorted(estate.observed_homes()))
        plan = replace(of_source(ledger, plan, source), observed=observed_now)
        if dry_run and options.json:
            write(write_plan(plan, ledger.plan_key()))
            return
        if not options.json:
            show_plan(plan, outlook(opened, plan, rules))
            note_homes(opened, estate, name, blind)
        if dry_run or not (plan.actions or options.json):
            return
        _confirmed(plan, given, yes, ask=not options.json)
        observed = allow_observed or _allowed(plan, ask=not (yes or options.json))
        if settings is not None:
            opened.publish()
        _apply(ctx, opened, estate, plan, observed=observed, only=name)


def _text(path: Path) -> str:
    try:
        if str(path) == "-":
            return sys.stdin.buffer.read(MOST_BYTES).decode()
        with path.open("rb") as file:
            return file.read(MOST_BYTES).decode()
    except UnicodeDecodeError:
        raise PlanInvalid(f"{path} is not a plan: it is not text") from None
    except OSError as problem:
        raise PlanInvalid(f"{path} can not be read: {problem.strerror}") from None


def _confirmed(plan: Plan, given: Plan | None, yes: bool, *, ask: bool) -> None:
    """A file was looked at when it was made; a plan made just now needs a person's word."""
    if plan.will_do() and given is None and not yes:
        confirm(question(plan, observed=False), ask=ask)


def _allowed(plan: Plan, *, ask: bool) -> bool:
    """Whether a person allows to change homes that are only observed; unasked, nobody does."""
    would = plan.would_do()
    if not would:
        return False
    if ask and sys.stdin.isatty():
        return click.confirm(question(plan, observed=True), err=True)
    note(f"{len(would)} actions in homes that are only observed are left out: --allow-observed")
    return False


def _say(outcome: Outcome) -> None:
    if outcome.result is not Result.OBSERVED:  # they may be thousands, and were shown as left out
        say_outcome(outcome)


def _apply(
    ctx: click.Context,
    opened: Sexton,
    estate: Estate,
    plan: Plan,
    *,
    observed: bool,
    only: str | None,
) -> None:
    options, receipt = shared(ctx), new_receipt()
    mend(opened, receipt)
    if not options.json:
        say(f"receipt {receipt}")
    with stoppable(estate) as (stopping, _):
        tell = (lambda _: None) if options.json else _say
        outcomes = carry_out(stopping, plan, receipt, "applying", tell, observed=observed)
    left = len(plan.actions) - len(outcomes)
    rest = None
    if left:
        remaining = rest_of(plan, len(outcomes), opened.ledger)
        rest = keep_rest(remaining, f"apply-{receipt}", ledger_file(chosen_url(options)))
    if options.json:
        document(report(plan, receipt, outcomes, rest) | homes_shape(opened, estate, only))
    else:
        back = undo_command(receipt, outcomes)
        note(tallied(outcomes) + (f"; '{back}' takes it back" if back else ""))
    if left:
        note(stopped_with(left, rest))
        ctx.exit(DECLINED)
