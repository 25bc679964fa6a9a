"""`sexton archive verify`: can everything that was put away be read?"""

from __future__ import annotations

import click

from sexton.cli.arguments import home_option, source_option
from sexton.cli.cli_homes import name_of_home
from sexton.cli.cli_opening import existing
from sexton.cli.command import Command, shared
from sexton.cli.terminal import Column, document, progress, say, table
from sexton.cli.vault_view import means_of
from sexton.core.wording import counted
from sexton.errors import VaultError
from sexton.operations.asker import Asker
from sexton.operations.questions.vault_questions import each_file
from sexton.operations.thing_records import vault_file as shape
from sexton.retention.model import VaultFile, VaultState
from sexton.retention.removal_context import Means

_COLUMNS = (Column("NAME"), Column("RECEIPT"), Column("SOURCE"), Column("TROUBLE", cut=True))


@click.command(
    "verify",
    cls=Command,
    examples=("sexton archive verify", "sexton archive verify --source cron --json"),
)
@home_option
@source_option
@click.pass_context
def command(ctx: click.Context, home: str | None, source: str | None) -> None:
    """Check that everything put away can be read.

    Reads every file of the vault on this machine, archives and trash, and compares it with what was
    written. The exit code is that of the first trouble, 0 if there is none. Changes nothing.
    """
    options = shared(ctx)
    with existing(options) as opened:
        means = means_of(opened)
        found = [
            each
            for each in each_file(Asker(house=opened), None, name_of_home(opened, home), source)
            if each.state is VaultState.KEPT and each.host == means.host
        ]
        troubles = []
        with progress("verifying") as advance:
            for file in found:
                trouble = _trouble(means, file)
                if trouble is not None:
                    troubles.append((file, trouble))
                advance(1)
    if options.json:
        damaged = [{**shape(file), "trouble": str(why)} for file, why in troubles]
        document({"verified": len(found) - len(troubles), "damaged": damaged})
    else:
        _tell(found, troubles)
    if troubles:
        ctx.exit(troubles[0][1].exit_code)


def _trouble(means: Means, file: VaultFile) -> VaultError | None:
    """What is wrong with a file, if anything is."""
    try:
        means.look(file, lambda vault: vault.verify(file.name, file.written))
    except VaultError as trouble:
        return trouble
    return None


def _tell(found: list[VaultFile], troubles: list[tuple[VaultFile, VaultError]]) -> None:
    if troubles:
        table(
            _COLUMNS,
            ((each.name[:8], each.receipt, each.source, str(why)) for each, why in troubles),
        )
    say(f"{counted(len(found) - len(troubles), 'file')} can be read, {len(troubles)} can not")
