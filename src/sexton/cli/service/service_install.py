"""`sexton service install`: run the keeper as a service of this user."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from sexton.cli.cli_opening import chosen_settings, chosen_url, ledger_file
from sexton.cli.command import Command, Shared, shared
from sexton.cli.terminal import document, note, say
from sexton.keeper.services import service_here
from sexton.keeper.services.launch import Launch


@click.command(
    "install",
    cls=Command,
    examples=(
        "sexton service install",
        "sexton service install --serve --config ~/sexton.yaml",
        "sexton service install --dry-run",
    ),
)
@click.option("--serve", is_flag=True, help="Run 'sexton serve': the keeper with its dashboard.")
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
@click.pass_context
def command(ctx: click.Context, serve: bool, dry_run: bool) -> None:
    """Run the keeper as a service of this user.

    Writes a systemd user unit, or a launchd agent on macOS, enables it and starts it with the
    Sexton that runs here and the ledger and settings that are in use here. A service that was
    installed before is replaced. Keys that finalizers take from the environment are not copied:
    give them to the service itself.
    """
    options = shared(ctx)
    chosen_settings(options)  # what is wrong with them is told here, not in a log
    service = service_here(os.environ)
    launch = _launch(options, "serve" if serve else "keep")
    text = service.text(launch)
    advice = "" if dry_run else service.install(launch)
    if options.json:
        document({"file": str(service.file), "text": text, "installed": not dry_run})
    elif dry_run:
        for line in (f"# {service.file}", *text.splitlines()):
            say(line)
    else:
        say(f"the service is installed and runs: {service.file}")
        if advice:
            note(advice)


def _launch(options: Shared, task: str) -> Launch:
    url = chosen_url(options)
    file = ledger_file(url)
    environment = {"SEXTON_LEDGER": url if file is None else str(file.absolute())}
    config = options.config or os.environ.get("SEXTON_CONFIG")
    if config:
        environment["SEXTON_CONFIG"] = str(Path(config).absolute())
    if os.environ.get("PATH"):  # what finalizers run is found as it is here
        environment["PATH"] = os.environ["PATH"]
    words = (sys.executable, "-m", "sexton", task)
    return Launch(words=words, environment=tuple(environment.items()))
