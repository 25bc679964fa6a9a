"""Which finalizations are meant?"""

from __future__ import annotations

import click

from sexton.cli.arguments import named

finalizer_option = click.option(
    "--finalizer", callback=named("finalizer"), metavar="NAME", help="Only of this finalizer."
)
all_option = click.option(
    "--all", "everything", is_flag=True, help="Of every session and finalizer."
)
