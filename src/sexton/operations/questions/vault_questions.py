"""What lies in the trash and in the archive?"""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import TypedDict

from sexton.operations import said
from sexton.operations import thing_records as things
from sexton.operations.asker import Asker
from sexton.operations.cursors import cut
from sexton.operations.questions.home_questions import check_home
from sexton.retention.model import VaultFile, VaultKind, WantedFiles

CHUNK = 500


class KeptFile(said.VaultFile):
    """A file of the vault, its row, and how many of its sessions are still in it."""

    ref: int
    left: int


class Vault(TypedDict):
    """A page of what lies in the trash and the archive."""

    items: list[KeptFile]
    next: str | None


def vault(
    asker: Asker,
    *,
    kind: VaultKind | None = None,
    home: str | None = None,
    source: str | None = None,
    after: int | None = None,
    limit: int = 50,
) -> Vault:
    """What lies in the trash and the archive, in the order it was put there."""
    check_home(asker, home)
    files, wanted = asker.house.ledger.vault, WantedFiles(kind=kind, home=home, source=source)
    found, rest = cut(files.page(wanted, after or 0, limit + 1), limit)
    left = files.left(found)
    return {
        "items": [
            {**things.vault_file(each), "ref": each.ref, "left": left[each.ref]} for each in found
        ],
        "next": rest,
    }


def each_file(
    asker: Asker, kind: VaultKind | None, home: str | None, source: str | None
) -> Iterator[VaultFile]:
    """The vault files that are meant, in the order they were made."""
    wanted = WantedFiles(kind=kind, home=home, source=source)
    after = 0
    while page := asker.house.ledger.vault.page(wanted, after, CHUNK):
        yield from page
        after = page[-1].ref
