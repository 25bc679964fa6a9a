"""`sexton config show`: which settings are in effect?"""

from __future__ import annotations

import click

from sexton.cli.cli_opening import chosen_settings
from sexton.cli.command import Command, shared
from sexton.cli.terminal import document, write
from sexton.settings.settings_values import Settings


@click.command("show", cls=Command, examples=("sexton config show", "sexton config show --json"))
@click.pass_context
def command(ctx: click.Context) -> None:
    """Show the settings in effect and where each comes from.

    The text is a settings file that says the same. Without a settings file the defaults are shown;
    a ledger that was given policies before goes on using those.
    """
    options = shared(ctx)
    settings = chosen_settings(options) or Settings()
    import yaml

    from sexton.settings.render import show

    text = show(settings)
    if options.json:
        document(yaml.safe_load(text))
    else:
        write(text)
