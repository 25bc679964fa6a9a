"""`sexton hermes uninstall`: take the plugin out of a Hermes home and its interpreter."""

from __future__ import annotations

from pathlib import Path

import click

from sexton.cli.command import Command, shared
from sexton.cli.hermes import hermes_choosing as choosing
from sexton.cli.terminal import document, say
from sexton.integrations.packing import NAME


@click.command(
    "uninstall",
    cls=Command,
    examples=("sexton hermes uninstall", "sexton hermes uninstall ~/.hermes --python PYTHON"),
)
@choosing.home_argument
@choosing.python_option
@click.pass_context
def command(ctx: click.Context, home: Path | None, python: Path | None) -> None:
    """Take the plugin out of a Hermes home and its interpreter.

    The line in config.yaml goes, and so do the package and what came with it; what was there
    before stays. Other homes of the same interpreter lose the plugin too. The ledger stays.
    """
    from sexton.cli.hermes.enabling import disabled

    place = choosing.chosen_home(home)
    interpreter = choosing.chosen_interpreter(python)
    brought = interpreter.inventory().brought(NAME)
    config = choosing.read_config(place)
    changed = disabled(config, choosing.PLUGIN)
    if changed != config:
        choosing.write_config(place, changed)
    interpreter.uninstall(brought)
    if shared(ctx).json:
        document({"home": str(place), "python": str(interpreter.python), "removed": brought})
        return
    taken = f"{', '.join(brought)} left {interpreter.python}" if brought else "no package was there"
    say(f"the plugin is out of {place}; {taken}")
