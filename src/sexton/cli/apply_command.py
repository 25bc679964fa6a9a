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
from sexton.cli.carrying_out import (
    carry_out,
    finish,
    keep_rest,
    line_of,
    say_receipt,
    tally_of,
    undo_command,
)
from sexton.cli.cli_homes import estate_of, observe_all
from sexton.cli.cli_opening import attaching, chosen_settings
from sexton.cli.command import Command, shared
from sexton.cli.confirming import confirm
from sexton.cli.homes_here import homes_shape, note_homes
from sexton.cli.plan_view import question, show_plan
from sexton.cli.terminal import document, note, say, write
from sexton.core.plan import Plan, Result
from sexton.core.record import replace
from sexton.errors import PlanInvalid
from sexton.keeper.narrowing import of_source
from sexton.keeper.plan_file import read_plan, write_plan
from sexton.operations import said
from sexton.operations.asker import Asker
from sexton.operations.changes.applying import due, of_plan
from sexton.operations.outlook import outlook
from sexton.wiring.reaching import reaching

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
    rules = settings.rulebook if settings else None
    with attaching(options) as opened:
        asker = Asker(house=opened)
        estate, name = estate_of(opened, home)
        blind: frozenset[str] = frozenset()
        ledger = opened.ledger
        if text is not None:
            plan = read_plan(text, ledger.id, ledger.plan_key())
            if home is None:  # what was planned for one that was only named goes on there
                estate = reaching(opened, {action.seen.home for action in plan.actions})
            plan = of_source(ledger, plan, source)
        else:
            blind = observe_all(estate, strict=home is not None)
            plan = due(
                asker, name, source,
                allow_remove_all=allow_remove_all, rules=rules, estate=estate, tell=note,
            )[0]  # fmt: skip
        plan = replace(plan, observed=tuple(sorted(estate.observed_homes())))
        if dry_run and options.json:
            write(write_plan(plan, ledger.plan_key()))
            return
        if not options.json:
            show_plan(plan, outlook(opened, plan, rules))
            note_homes(opened, estate, name, blind)
        if dry_run or not (plan.actions or options.json):
            return
        _confirmed(plan, given=text is not None, yes=yes, ask=not options.json)
        observed = allow_observed or _allowed(plan, ask=not (yes or options.json))
        if settings is not None:
            opened.publish()
        proposal = of_plan(asker, plan, verb="apply", title="applying", estate=lambda: estate)
        begin, tell = (say_receipt, _say) if not options.json else (lambda _: None, None)
        receipt = carry_out(proposal, observed=observed, tell=tell, begin=begin)
        rest = keep_rest(ctx, opened, receipt.rest, f"apply-{receipt.id}")
        if options.json:
            more = {"rest": None if rest is None else str(rest)}
            document({**receipt.shown, **more, **homes_shape(opened, estate, name)})
        else:
            undo = undo_command(receipt)
            note(tally_of(receipt.outcomes) + (f"; '{undo}' takes it back" if undo else ""))
    finish(ctx, receipt, rest)


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


def _confirmed(plan: Plan, *, given: bool, yes: bool, ask: bool) -> None:
    """A file was looked at when it was made; a plan made just now needs a person's word."""
    if plan.will_do() and not given and not yes:
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


def _say(outcome: said.Outcome) -> None:
    if outcome["result"] != Result.OBSERVED:  # they may be thousands, and were shown as left out
        say(line_of(outcome))
