"""`sexton trash empty`: give up for good what is in the trash."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from sexton.cli.arguments import dry_run_option, home_option, source_option, yes_option
from sexton.cli.cli_homes import mend
from sexton.cli.cli_opening import existing
from sexton.cli.command import Command, shared
from sexton.cli.confirming import confirm
from sexton.cli.terminal import document, note, progress, say
from sexton.cli.vault_view import files, means_of, show_files
from sexton.core.wording import counted
from sexton.keeper.apply import new_receipt
from sexton.operations.thing_records import vault_file as shape
from sexton.retention.empty import empty
from sexton.retention.removal_ports import VaultFile, VaultState
from sexton.retention.vault_ports import VaultKind

IN_TIME = "in the trash is past its time"
END_OF_TIME = datetime(9999, 1, 1, tzinfo=UTC)


@click.command(
    "empty",
    cls=Command,
    examples=(
        "sexton trash empty                   # what is past its time; keepers do it, too",
        "sexton trash empty --all --source cron",
        "sexton trash empty --dry-run",
    ),
)
@click.option("--all", "everything", is_flag=True, help="Also what could still be brought back.")
@home_option
@source_option
@dry_run_option
@yes_option
@click.pass_context
def command(
    ctx: click.Context,
    everything: bool,
    home: str | None,
    source: str | None,
    dry_run: bool,
    yes: bool,
) -> None:
    """Give up for good what is in the trash.

    Without --all only what is past its time. This can not be undone: of each session the row
    stays, with its dates and counts, and nothing of what was said. What was pinned meanwhile, or
    owes work again, stays. Only files of this machine are removed.
    """
    options = shared(ctx)
    with existing(options) as opened:
        means, receipt, now = means_of(opened), new_receipt(), opened.clock.now()
        if not dry_run:
            mend(opened, receipt)
        meant = [
            each
            for each in files(opened, VaultKind.TRASH, home, source)
            if each.host == means.host and each.state is VaultState.KEPT
            if everything or (each.expires_at is not None and each.expires_at <= now)
        ]
        if not options.json and meant:
            show_files(opened, meant)
        if dry_run:
            _tell(meant, [], receipt=None, as_json=options.json, everything=everything)
            return
        if meant and not yes:
            question = f"Remove {counted(len(meant), 'file')} for good?"
            confirm(question, ask=not options.json)
        deadline = END_OF_TIME if everything else None
        with progress("emptying") as advance:
            done = []
            for file, is_gone in empty(means, meant, receipt, deadline=deadline):
                advance(1)
                if is_gone:
                    done.append(file)
        _tell(meant, done, receipt=receipt, as_json=options.json, everything=everything)


def _tell(
    meant: list[VaultFile],
    done: list[VaultFile],
    *,
    receipt: str | None,
    as_json: bool,
    everything: bool,
) -> None:
    if as_json:
        gone = {each.ref for each in done}
        document(
            {
                "receipt": receipt,
                "removed": [shape(each) for each in done],
                "kept": [shape(each) for each in meant if each.ref not in gone],
            }
        )
    elif not meant:
        say(f"nothing {'of that is in the trash' if everything else IN_TIME}")
    elif receipt is not None:
        say(f"{counted(len(done), 'file')} removed for good (receipt {receipt})")
        if len(done) < len(meant):
            note(f"{len(meant) - len(done)} stay: pinned, with work to be done, or in use")
