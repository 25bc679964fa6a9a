"""How are the files of the vault listed by a command?"""

from __future__ import annotations

import click

from sexton.cli.cli_homes import name_of_home
from sexton.cli.cli_opening import existing
from sexton.cli.command import shared
from sexton.cli.keeper_notice import note_keeper
from sexton.cli.paging import Pages, by_ref, tell_pages
from sexton.cli.terminal import note
from sexton.cli.vault_view import show_files
from sexton.core.wording import counted, size
from sexton.operations.asker import Asker
from sexton.operations.questions.vault_questions import KeptFile, vault
from sexton.retention.model import VaultKind
from sexton.wiring import Sexton

ALL = 1_000_000_000


def list_files(
    ctx: click.Context, kind: VaultKind, home: str | None, source: str | None, nothing: str
) -> None:
    """Write the vault files of a kind, for a person or a program."""
    options = shared(ctx)
    with existing(options) as opened:
        asker, name = Asker(house=opened), name_of_home(opened, home)
        found = Pages(
            lambda rest, most: vault(
                asker, kind=kind, home=name, source=source, after=by_ref(rest), limit=most
            ),
            ALL,
        )
        tell_pages(found, lambda shown: _show(opened, shown), nothing, as_json=options.json)
        note_keeper(opened.ledger, opened.clock)


def _show(opened: Sexton, shown: list[KeptFile]) -> None:
    show_files(opened, shown)
    total = sum(each["bytes"] for each in shown)
    note(f"{counted(len(shown), 'file')}, {size(total)}")
