"""`sexton hermes`: how does Sexton get into Hermes, and out of it?"""

from __future__ import annotations

import click

from sexton.cli.command import Group, Late


@click.group(
    "hermes",
    cls=Group,
    late={
        "install": Late(
            "sexton.cli.hermes.hermes_install",
            "Put the plugin into a Hermes home and its interpreter.",
        ),
        "uninstall": Late(
            "sexton.cli.hermes.hermes_uninstall",
            "Take the plugin out of a Hermes home and its interpreter.",
        ),
    },
    examples=("sexton hermes install ~/.hermes", "sexton hermes uninstall ~/.hermes"),
)
def command() -> None:
    """Look after the sessions of Hermes from inside.

    From outside Sexton knows of a Hermes session what its home proves. The plugin runs in every
    Hermes process of a home: it tells the ledger who works on what, ends sessions that Hermes
    leaves open, stops turns by breaker and budget, and knows every background process.
    """
