"""`sexton service`: how does the keeper run for as long as the machine does?"""

from __future__ import annotations

import click

from sexton.cli.command import Group, Late


@click.group(
    "service",
    cls=Group,
    late={
        "install": Late(
            "sexton.cli.service.service_install", "Run the keeper as a service of this user."
        ),
        "status": Late(
            "sexton.cli.service.service_status", "Show whether the service is installed and runs."
        ),
        "logs": Late("sexton.cli.service.service_logs", "Show what the service wrote."),
        "uninstall": Late(
            "sexton.cli.service.service_uninstall", "Stop the service and take it away."
        ),
    },
    examples=(
        "sexton service install               # a systemd user unit, or a launchd agent",
        "sexton service install --dry-run     # only show what would be written",
        "sexton service logs --follow",
    ),
)
def command() -> None:
    """Install, ask after and remove the service that keeps sessions well."""
