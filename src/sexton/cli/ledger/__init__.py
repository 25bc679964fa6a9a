"""`sexton ledger`: what can be done to the ledger itself?"""

from __future__ import annotations

import click

from sexton.cli.command import Group, Late


@click.group(
    "ledger",
    cls=Group,
    late={
        "migrate": Late(
            "sexton.cli.ledger.ledger_migrate", "Bring the ledger to the schema of this Sexton."
        )
    },
    examples=("sexton ledger migrate --ledger postgresql://db/sexton",),
)
def command() -> None:
    """Look after the ledger itself."""
