"""`sexton doctor`: how are the sessions of this machine doing?"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click

from sexton.cli import doctor_view
from sexton.cli.cli_homes import wanted_home
from sexton.cli.cli_opening import attaching, chosen_settings, chosen_url, missing
from sexton.cli.command import Command, Shared, shared
from sexton.cli.examination import HomeReport, examine, examine_ledger
from sexton.cli.homes_here import found_homes, is_listed
from sexton.core.session import NATIVE
from sexton.wiring import Sexton
from sexton.wiring.reaching import reachable


@click.command(
    "doctor",
    cls=Command,
    examples=(
        "sexton doctor                        # our own sessions and every known home",
        "sexton doctor ~/.hermes              # a Hermes home, which is only read",
        "sexton doctor ~/.hermes --json",
    ),
)
@click.argument("home", metavar="[PATH]", required=False)
@click.pass_context
def command(ctx: click.Context, home: str | None) -> None:
    """Show how the sessions of this machine are doing.

    With a PATH: looks at the Hermes home there, without changing anything in it, brings its facts
    into the ledger (which is made if need be) and prints first figures: how many sessions are open
    and how the others ended, where they come from, how old the open ones are, which are the
    biggest, what they take on the disk. Without: the same for our own sessions and for every home
    that is known or listed in the settings.

    An open session is not a leaked one: a conversation stays open until its next message. Leaked
    means open although every process that held it is dead; unproven means that nothing shows
    whether anybody still holds it. For a home that is only observed it is told how many sessions
    the keeper would have ended since when, and how many of them were used again after all.

    Then what is wrong with a Hermes home: sessions left open, trivial ones, files nobody needs,
    resets that are held back and by which process, conversations that expired unnoticed,
    compressions that fail, the database as a file, and mistakes in its configuration with their
    lines. Each finding says how much there is of it, what it costs and which command mends it.
    """
    options = shared(ctx)
    _refuse_nothing_to_look_at(options, home)
    with attaching(options) as opened:
        reports = list(_reports(opened, home))
        ledger = examine_ledger(opened, chosen_url(options))
    if options.json:
        doctor_view.write(ledger, reports)
    else:
        doctor_view.show(ledger, reports)


def _refuse_nothing_to_look_at(options: Shared, home: str | None) -> None:
    """A ledger is made to hold what was seen of a home, not to tell that it is empty."""
    settings = chosen_settings(options)
    if home is None and not (settings and settings.homes):
        refusal = missing(chosen_url(options))
        if refusal is not None:
            there = [f"sexton doctor {shlex.quote(str(each))}" for each in found_homes()]
            if there:
                refusal.hint = f"A Hermes home is here: '{there[0]}' looks at it."
            raise refusal


def _reports(opened: Sexton, home: str | None) -> Iterator[HomeReport]:
    if home is not None:
        wanted = wanted_home(opened, home)
        yield _placed(opened, examine(opened, wanted.name, wanted.setting, strict=True))
        return
    yield examine(opened, NATIVE, None)
    seen: set[str] = set()
    for setting in opened.settings.homes:
        report = _placed(opened, examine(opened, setting.name, setting))
        seen.add(report.name)
        yield report
    for record in opened.ledger.homes.all():
        if record.name not in seen and record.name != NATIVE:
            found = reachable(record, opened.settings.homes)
            yield _placed(opened, examine(opened, record.name, found))


def _placed(opened: Sexton, report: HomeReport) -> HomeReport:
    """The report of a home of this machine says whether the settings list it."""
    if report.figures is None or report.path is None:
        return report
    return replace(report, attached=is_listed(Path(report.path), opened.settings.homes))
