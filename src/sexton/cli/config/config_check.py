"""`sexton config check`: is anything wrong with the settings, and what do they do?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sexton.cli.cli_homes import bare_estate
from sexton.cli.cli_opening import chosen_settings, chosen_url, existing, missing
from sexton.cli.command import Command, Shared, shared
from sexton.cli.config import check_view
from sexton.cli.terminal import note
from sexton.core.clock import SystemClock
from sexton.errors import SettingsInvalid, SextonError
from sexton.liveness.standing import open_sessions
from sexton.retention.policy import Retention
from sexton.sessions.model import Place
from sexton.settings.settings_values import Settings
from sexton.wiring import Sexton
from sexton.wiring.choosing_ledger import expanded
from sexton.wiring.places import default_settings
from sexton.wiring.reaching import reachable

if TYPE_CHECKING:
    from sexton.keeper.keeper_context import Estate
    from sexton.retention.model import Remains
    from sexton.settings.effect import RuleEffect

CHUNK = 500


@click.command(
    "check",
    cls=Command,
    examples=(
        "sexton config check",
        "sexton config check --effect         # what every rule does to the open sessions",
        "sexton config check --config new.yaml --effect --json",
    ),
)
@click.option("--effect", "with_effect", is_flag=True, help="Show what every rule does right now.")
@click.pass_context
def command(ctx: click.Context, with_effect: bool) -> None:
    """Find every mistake in the settings.

    All of them at once, with file, line and column, and what was probably meant. Then what has no
    effect, which rules can never fire, and which finalizers could not work on this machine. With
    --effect, for every rule, also those that homes bring along, how many open sessions of the
    ledger it is for, how many of them end now, how many are over but held back, by a pin or a
    running turn for instance, and how many are protected, those held back included; for every
    finalizer and budget how many open sessions it is for; and for every class of retention how many
    sessions that are over it is for, and what of them would go now. Nothing is put in force.
    """
    from sexton.settings.lint import inert
    from sexton.settings.loader import problems
    from sexton.wiring.duties import unready

    options = shared(ctx)
    file = _file(options)
    wrong = problems(file, os.environ)
    if wrong:
        if options.json:
            check_view.write(file, wrong, [], None)
        raise SettingsInvalid("\n".join(str(each) for each in wrong))
    settings = chosen_settings(options)
    findings = inert(settings or Settings())
    effects = _effects(options, settings) if with_effect else None
    if options.json:
        check_view.write(file, [], findings, effects)
    else:
        check_view.show(file, findings, effects)
    for name, why in unready(settings or Settings(), SystemClock(), os.environ):
        note(f"the finalizer {name} could not work here: {why}")


def _file(options: Shared) -> Path | None:
    named = options.config or os.environ.get("SEXTON_CONFIG")
    if named:
        return expanded(named)
    usual = default_settings(os.environ)
    return Path(usual) if os.path.exists(usual) else None


def _effects(options: Shared, settings: Settings | None) -> list[RuleEffect]:
    """What the given rules would do; without settings, what the ledger's own do."""
    from sexton.keeper.keeper_context import rules_now
    from sexton.keeper.propose import decider
    from sexton.settings.effect import effect, retention_effect

    refusal = missing(chosen_url(options))
    if refusal is not None:
        note(f"{refusal}; no session is affected")
        rules, now = (settings or Settings()).rulebook, SystemClock().now()
        return [*effect(rules, (), lambda _: None), *retention_effect(rules.retention, (), now)]
    with existing(options) as opened:
        estate = _reached(opened)
        found = rules_now(estate, settings.rulebook if settings else None)
        rules, now = found.in_force.rules, opened.clock.now()
        homes = [home.name for home in opened.ledger.homes.all()]
        sessions = open_sessions(opened.ledger, homes)
        over = _sessions_over(opened, rules.retention)
        return [
            *effect(rules, sessions, decider(estate, found), found.of_home),
            *retention_effect(rules.retention, over, now),
        ]


def _reached(opened: Sexton) -> Estate:
    """The homes with rules of their own, as far as they can be asked about owners from here."""
    found = []
    for record in opened.ledger.homes.all():
        if record.rules is None:
            continue
        setting = reachable(record, ())
        try:
            if setting is None:
                note(f"home not asked about owners: {record.name}: it is on {record.host}")
            else:
                opened.attach(setting)
                found.append(setting)
        except SextonError as trouble:
            note(f"home not asked about owners: {record.name}: {trouble}")
    return bare_estate(opened, tuple(found))


def _sessions_over(opened: Sexton, retention: Retention) -> Iterator[Remains]:
    """The ended sessions of all homes whose messages are still there."""
    retained = opened.ledger.retained
    for home in opened.ledger.homes.all():
        for source in retained.sources(home.name):
            among = retention.of(source).keep_last or 0
            place: Place | None = None
            while page := retained.old(home.name, source, place, CHUNK, among):
                yield from page
                place = Place(page[-1].session.active_at, page[-1].session.ref)
