"""How are the files of the vault listed by a command?"""

from __future__ import annotations

import click

from sexton.cli.cli_opening import existing
from sexton.cli.command import shared
from sexton.cli.keeper_notice import note_keeper
from sexton.cli.terminal import array, note
from sexton.cli.vault_view import files, show_files, with_left
from sexton.core.wording import counted, size
from sexton.operations.thing_records import vault_file as shape
from sexton.retention.vault_ports import VaultKind


def list_files(
    ctx: click.Context, kind: VaultKind, home: str | None, source: str | None, nothing: str
) -> None:
    """Write the vault files of a kind, for a person or a program."""
    options = shared(ctx)
    with existing(options) as opened:
        found = files(opened, kind, home, source)
        if options.json:
            array(shape(each) | {"left": left} for each, left in with_left(opened, found))
        elif listed := list(found):
            show_files(opened, listed)
            total = sum(each.written.bytes for each in listed)
            note(f"{counted(len(listed), 'file')}, {size(total)}")
        else:
            note(nothing)
        note_keeper(opened.ledger, opened.clock)
