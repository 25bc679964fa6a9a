"""`sexton processes`: what can be asked about background processes, and decided?"""

from __future__ import annotations

import click

from sexton.cli.command import Group, Late


@click.group(
    "processes",
    cls=Group,
    late={
        "list": Late(
            "sexton.cli.processes.process_list",
            "List the background processes of sessions and what they do.",
        ),
        "stop": Late(
            "sexton.cli.processes.process_stop", "Stop processes with all that they started."
        ),
        "keep": Late(
            "sexton.cli.processes.process_keep", "Keep a process from being stopped by policy."
        ),
        "release": Late(
            "sexton.cli.processes.process_release", "Let policies stop a process again."
        ),
    },
    examples=(
        "sexton processes list                    # what runs, for whom, and what it holds back",
        "sexton processes stop 4711 --dry-run     # what would be stopped with it?",
        "sexton processes keep 4711               # no policy stops this one",
    ),
)
def command() -> None:
    """List, stop, keep and release the background processes of sessions."""
