"""`sexton hermes install`: put the plugin into a Hermes home and its interpreter."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from sexton.cli.cli_opening import chosen_url, shown_url
from sexton.cli.command import Command, shared
from sexton.cli.hermes import hermes_choosing as choosing
from sexton.cli.hermes.proving import proved
from sexton.cli.terminal import document, note, say
from sexton.errors import HomeRefused, InputInvalid
from sexton.integrations.interpreters import FOUND, Interpreter, Inventory
from sexton.integrations.packing import NAME, pack
from sexton.version import __version__


@click.command(
    "install",
    cls=Command,
    examples=(
        "sexton hermes install",
        "sexton hermes install ~/.hermes --python ~/hermes/.venv/bin/python",
    ),
)
@choosing.home_argument
@choosing.python_option
@click.pass_context
def command(ctx: click.Context, home: Path | None, python: Path | None) -> None:
    """Put the plugin into a Hermes home and its interpreter.

    The Sexton that runs here is installed by the pip of that interpreter; nothing that is there
    already changes its version. A table of what models cost comes along if pip can get it. In the
    home's config.yaml one line is added and every other stays as it is: Hermes's own command would
    write the file anew without its comments. Processes of Hermes that begin afterwards have the
    plugin. It tells the ledger that SEXTON_LEDGER names in their environment, or this platform's
    usual one.

    Before it says so, Hermes's own loader is asked in that interpreter, with this home and its
    .env: whether it loads the plugin, and which ledger the plugin would use. If Hermes does not
    load it, everything is put back as it was.
    """
    from sexton.cli.hermes.enabling import enabled

    options = shared(ctx)
    place = choosing.chosen_home(home)
    interpreter = choosing.chosen_interpreter(python)
    inventory = interpreter.inventory()
    if choosing.AGENT not in inventory.versions:
        raise InputInvalid(
            f"{interpreter.python} has no Hermes", hint="Name the one that has with --python."
        )
    # Asked first: a configuration that can not be changed leaves everything as it was.
    config = choosing.read_config(place)
    changed = enabled(config, choosing.PLUGIN)
    has_prices = _put_in(interpreter, inventory)
    if changed != config:
        choosing.write_config(place, changed)
    proof = proved(interpreter, place)
    if not proof.loaded:
        _put_back(interpreter, inventory, place, config)
        raise HomeRefused(
            f"Hermes does not load the plugin in {place}: {proof.why}",
            hint="Everything was put back. 'hermes plugins list' shows what Hermes loads.",
        )
    here = chosen_url(options)
    if options.json:
        document(
            {
                "home": str(place),
                "python": str(interpreter.python),
                "version": __version__,
                "prices": has_prices,
                "ledger": shown_url(proof.ledger),
                "is_ours": proof.ledger == here,
            }
        )
        return
    say(f"sexton {__version__} is in {interpreter.python} and enabled in {place}: Hermes loads it")
    if not has_prices:
        note("the table of prices could not be brought: budgets in dollars bound nothing there")
        note("unless prices.models or prices.unknown in sexton.yaml says what models cost")
    by = f"as {place / '.env'} says" if proof.named else "unless their SEXTON_LEDGER differs"
    note(f"new Hermes processes tell {shown_url(proof.ledger)}, {by}")
    if proof.ledger != here:
        note(f"that is not {shown_url(here)}: other commands need --ledger to see what they tell")


def _put_in(interpreter: Interpreter, inventory: Inventory) -> bool:
    """Install the running Sexton there; whether models have prices then."""
    others = {name: each for name, each in inventory.versions.items() if name != NAME}
    before = inventory.found if inventory.found is not None else frozenset(others)
    with TemporaryDirectory(prefix="sexton-") as directory:
        wheel = pack(Path(directory), {FOUND: json.dumps(sorted(before))})
        if NAME in inventory.versions:
            interpreter.uninstall([NAME])
        return interpreter.install(wheel, others)


def _put_back(interpreter: Interpreter, before: Inventory, place: Path, config: str) -> None:
    """Leave the home and its interpreter as they were."""
    if choosing.read_config(place) != config:
        choosing.write_config(place, config)
    if NAME not in before.versions:
        interpreter.uninstall(interpreter.inventory().brought(NAME))
