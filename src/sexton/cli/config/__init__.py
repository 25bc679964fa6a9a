"""`sexton config`: what can be asked about the settings?"""

from __future__ import annotations

import click

from sexton.cli.command import Group, Late

_HERE = "sexton.cli.config"


@click.group(
    "config",
    cls=Group,
    late={
        "check": Late(_HERE, "Find every mistake in the settings."),
        "show": Late(_HERE, "Show the settings in effect and where each comes from."),
        "import-hermes": Late(_HERE, "Write settings that say what a Hermes home's own say."),
        "schema": Late(_HERE, "Write the JSON Schema of the settings file."),
    },
    examples=("sexton config check --effect", "sexton config show", "sexton config schema"),
)
def command() -> None:
    """Check, show, describe and import the settings.

    The settings file is named by --config or SEXTON_CONFIG, or is the one in this platform's
    place. A variable SEXTON_SECTION__SETTING overrides one setting of it.
    """
