"""`sexton finalizers backfill`: owe work for sessions that ended before there was a finalizer."""

from __future__ import annotations

from datetime import timedelta

import click

from sexton.cli.arguments import named, span_option, yes_option
from sexton.cli.cli_opening import deciding
from sexton.cli.command import Command, shared
from sexton.cli.confirming import confirm
from sexton.cli.terminal import document, say
from sexton.core.wording import counted, number, size
from sexton.finalizers.job import Backlog
from sexton.settings.settings_values import FinalizerSetting
from sexton.spending.budgets import shown
from sexton.spending.model import Unit
from sexton.wiring import Sexton
from sexton.wiring.prospects import calls_of

CHUNK = 500
LONGEST = timedelta(days=36_500)


@click.command(
    "backfill",
    cls=Command,
    examples=(
        "sexton finalizers backfill memories              # count, estimate, then ask",
        "sexton finalizers backfill memories --since 30d --yes",
    ),
)
@click.argument("finalizer", callback=named("finalizer"))
@span_option("--since", default="365d", most=LONGEST, help="How far back to look at ends.")
@yes_option
@click.pass_context
def command(ctx: click.Context, finalizer: str, since: timedelta, yes: bool) -> None:
    """Owe work for sessions that ended before there was a finalizer.

    Sessions that ended before a finalizer was configured owe it nothing, so that adding one does
    not start a storm. This shows how many there are and what their work would cost, then asks.
    """
    options = shared(ctx)
    with deciding(options) as opened:
        setting = _setting(opened, finalizer)
        now = opened.clock.now()
        backlog = opened.ledger.backfill.estimate(finalizer, now - since)
        cost = _cost(opened, setting, backlog)
        if not options.json:
            say(f"{counted(backlog.sessions, 'session')} ended without it: {cost}")
        if backlog.sessions and not yes:
            confirm(f"Let {counted(backlog.sessions, 'session')} owe it?", ask=not options.json)
        owed = _owe(opened, finalizer, since)
    if options.json:
        document({"finalizer": finalizer, "owed": owed, "bytes": backlog.bytes, "cost": cost})
    elif owed:
        say(f"{counted(owed, 'session')} owe it now; a keeper does the work")


def _setting(opened: Sexton, name: str) -> FinalizerSetting:
    for setting in opened.settings.finalizers:
        if setting.name == name:
            return setting
    known = ", ".join(each.name for each in opened.settings.finalizers) or "none"
    raise click.UsageError(f"the settings have no finalizer '{name}'; they have: {known}")


def _cost(opened: Sexton, setting: FinalizerSetting, backlog: Backlog) -> str:
    text = f"{counted(backlog.messages, 'message')}, {size(backlog.bytes)} of text"
    prices = opened.rules(None).rules.spend.prices
    model = calls_of(setting, backlog.sessions, backlog.bytes, prices)
    if model is None:
        return f"{text}, {counted(backlog.sessions, 'run')}"
    asked = f"{text}, about {number(model.tokens)} tokens in about {counted(model.calls, 'call')}"
    micros = model.cost_micros
    return asked if micros is None else f"{asked}, about {shown(Unit.USD, micros)}"


def _owe(opened: Sexton, finalizer: str, since: timedelta) -> int:
    """In chunks, so that nobody who writes waits long."""
    total = 0
    now = opened.clock.now()
    while added := opened.ledger.backfill.owe(finalizer, now - since, CHUNK, now):
        total += added
    return total
