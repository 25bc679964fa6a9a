"""`sexton service`: how does the keeper run for as long as the machine does?"""

from __future__ import annotations

import click

from sexton.cli.command import Group, Late

_HERE = "sexton.cli.service"


@click.group(
    "service",
    cls=Group,
    late={
        "install": Late(_HERE, "Run the keeper as a service of this user."),
        "status": Late(_HERE, "Show whether the service is installed and runs."),
        "logs": Late(_HERE, "Show what the service wrote."),
        "uninstall": Late(_HERE, "Stop the service and take it away."),
    },
    examples=(
        "sexton service install               # a systemd user unit, or a launchd agent",
        "sexton service install --dry-run     # only show what would be written",
        "sexton service logs --follow",
    ),
)
def command() -> None:
    """Install, ask after and remove the service that keeps sessions well."""
