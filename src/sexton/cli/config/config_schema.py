"""`sexton config schema`: which settings are there?"""

from __future__ import annotations

import click

from sexton.cli.command import Command
from sexton.cli.terminal import document


@click.command("schema", cls=Command, examples=("sexton config schema > sexton.schema.json",))
def command() -> None:
    """Write the JSON Schema of the settings file.

    For editors that complete and check YAML, and for programs that write settings.
    """
    from sexton.settings.sections import json_schema

    document(json_schema())
