"""`sexton config`: what can be asked about the settings?"""

from __future__ import annotations

import click

from sexton.cli.command import Group, Late


@click.group(
    "config",
    cls=Group,
    late={
        "check": Late("sexton.cli.config.config_check", "Find every mistake in the settings."),
        "show": Late(
            "sexton.cli.config.config_show",
            "Show the settings in effect and where each comes from.",
        ),
        "import-hermes": Late(
            "sexton.cli.config.config_import_hermes",
            "Write settings that say what a Hermes home's own say.",
        ),
        "schema": Late(
            "sexton.cli.config.config_schema", "Write the JSON Schema of the settings file."
        ),
    },
    examples=("sexton config check --effect", "sexton config show", "sexton config schema"),
)
def command() -> None:
    """Check, show, describe and import the settings.

    The settings file is named by --config or SEXTON_CONFIG, or is the one in this platform's
    place. A variable SEXTON_SECTION__SETTING overrides one setting of it.
    """
