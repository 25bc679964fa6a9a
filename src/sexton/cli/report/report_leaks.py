"""`sexton report leaks`: how many sessions leaked, before and after?"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import click

from sexton.cli.arguments import force_file_option, named, span_option
from sexton.cli.cli_files import private_file
from sexton.cli.cli_opening import chosen_url, existing, ledger_file
from sexton.cli.command import Command, shared
from sexton.cli.keeper_notice import note_keeper
from sexton.cli.report.chart import Colour, Series, chart
from sexton.cli.report.report_shadow import shadow_words
from sexton.cli.terminal import document, note, progress, say, write
from sexton.core.wording import counted, number, share, stamp
from sexton.liveness.leaks import Leaks
from sexton.liveness.standing import SAMPLED
from sexton.liveness.store import KEEP
from sexton.operations.asker import Asker
from sexton.operations.questions.leak_questions import (
    all_counted,
    all_started,
    count,
    leak_report,
)

BEFORE = "before: open still or ended by the reaper, of the sessions started that day"
LEAKED = "after: leaked, of the sessions that were open when a sweep counted"
UNPROVEN = "after: unproven, of the sessions that were open when a sweep counted"
ORANGE = Colour("#b45309", "#f59e0b")
BLUE = Colour("#1d4ed8", "#60a5fa")
GREY = Colour("#6b7280", "#9ca3af")


@click.command(
    "leaks",
    cls=Command,
    examples=(
        "sexton report leaks                           # the last 30 days, in words",
        "sexton report leaks --since 90d -o leaks.svg  # and as a picture",
        "sexton report leaks --home hermes --json",
    ),
)
@span_option("--since", default="30d", most=KEEP, help="How far back to look.")
@click.option("--home", callback=named("home"), metavar="NAME", help="Only this home.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw it as SVG into a file.",
)
@force_file_option
@click.pass_context
def command(
    ctx: click.Context, since: timedelta, home: str | None, output: Path | None, force: bool
) -> None:
    """Show how many sessions leaked, before and after.

    Before: of the sessions started on each day, the part that did not end by itself, that is, is
    open still or was ended only by the reaper. After: of the sessions that were open whenever a
    sweep counted them, the part that was leaked, and the part that is unproven, as nothing shows
    whether anybody still holds it; a keeper stores such a count every ten minutes.

    With a file, or '-' for standard output, both are drawn as SVG. The file is readable for its
    owner only and replaces nothing unless forced. Needs a ledger that exists.
    """
    options = shared(ctx)
    to_terminal = output is not None and str(output) == "-"
    if to_terminal and options.json:
        raise click.UsageError("'-o -' and --json both want standard output", ctx)
    with existing(options) as opened:
        asker = Asker(house=opened)
        with progress("counting sessions"):
            leaks = count(asker, since, home)
        if output is not None and to_terminal:
            write(_drawn(leaks, home))
        elif output is not None:
            ledger = ledger_file(chosen_url(options))
            with private_file(output, force=force, ledger=ledger) as file:
                file.write(_drawn(leaks, home))
        if options.json:
            report = leak_report(asker, leaks, home)
            document({**report, "file": None if output is None else str(output)})
        elif not to_terminal:
            _show(leaks, output)
        note_keeper(opened.ledger, opened.clock)


def _drawn(leaks: Leaks, home: str | None) -> str:
    of = "all homes" if home is None else home
    series = [
        Series(name=BEFORE, colour=ORANGE, shares=[each.share for each in leaks.before]),
        Series(name=LEAKED, colour=BLUE, shares=[each.share for each in leaks.after]),
    ]
    if any(each.unproven for each in leaks.after):
        shares = [each.unproven_share for each in leaks.after]
        series.append(Series(name=UNPROVEN, colour=GREY, shares=shares, dashed=True))
    return chart(f"Sessions left behind in {of}", [each.day for each in leaks.before], series)


def _show(leaks: Leaks, output: Path | None) -> None:
    started, found = all_started(leaks.before), all_counted(leaks.after)
    say(f"{leaks.before[0].day} to {leaks.before[-1].day}, days in UTC")
    say(
        f"before: {counted(started.sessions, 'session')} started, of which "
        f"{number(started.open)} are open still and {number(started.reaped)} were reaped "
        f"({share(started.open + started.reaped, started.sessions)})"
    )
    if not found.samples:
        say("after: no sweep has counted in this time")
    else:
        say(
            f"after: {counted(found.samples, 'count')} by sweeps; of the open sessions "
            f"{share(found.leaked, found.open)} leaked and "
            f"{share(found.unproven, found.open)} unproven on average"
        )
    for sample in leaks.last:
        standing = ", ".join(f"{number(getattr(sample, each))} {each}" for each in SAMPLED)
        say(f"{sample.home} at {stamp(sample.at)}: {number(sample.open)} open: {standing}")
    for shadow in leaks.shadows:
        say(f"{shadow.count.home}, {shadow_words(shadow)}")
    if output is not None:
        note(f"drawn to {output}")
